import type { Template, TemplateField } from '../../api/resource-types.ts';
import { renderNextSteps } from '../../cli/next-steps.ts';
import type { NextStepsTerminal } from '../../cli/terminal.ts';
import { counted } from '../../kernel/duration.ts';
import { indented, renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';

/** Renders a template: its roles and size, then with `all` its fields by page, and the command that uses it. */
export function renderTemplate(
  template: Template,
  roles: { names: string[]; inferred: boolean },
  all: boolean,
  terminal: NextStepsTerminal,
): string {
  const fields = template.fields ?? [];
  const from = roles.inferred ? ' (inferred from earlier envelopes)' : '';
  const shownRoles =
    roles.names.length > 0 ? `${roles.names.join(', ')}${from}` : 'not returned by the service';
  const pairs: [string, string][] = [
    ['Roles', safeLine(shownRoles)],
    ['Pages', String(template.pageCount ?? '')],
    ['Fields', `${fields.length}${!all && fields.length > 0 ? '  (--all shows them)' : ''}`],
  ];
  const next = [
    ['Create an envelope', terminal.command('envelopes', 'create', '--template', template.id)],
  ] as const;
  return [
    `${terminal.style('bold', safeLine(template.id))}  ${safeLine(template.name ?? '')}\n`,
    template.description ? `  ${indented(safeLine(template.description), 2, terminal)}\n` : '',
    `\n${renderPairs(pairs, terminal, '  ')}`,
    all || !terminal.outIsTty ? renderPages(fields, terminal) : '',
    terminal.outIsTty ? `\n${renderNextSteps(next, terminal)}` : '',
  ].join('');
}

function renderPages(fields: readonly TemplateField[], terminal: Terminal): string {
  const byPage = new Map<number, TemplateField[]>();
  for (const field of fields) byPage.set(field.page ?? 0, [...(byPage.get(field.page ?? 0) ?? []), field]);
  return [...byPage]
    .sort(([a], [b]) => a - b)
    .map(([page, list]) => {
      const title = `${terminal.style('bold', page === 0 ? 'Fields' : `Page ${page}`)}  ${counted(list.length, 'field')}`;
      return `\n${title}\n${renderPairs(list.map(fieldPair), terminal, '  ')}`;
    })
    .join('');
}

function fieldPair(field: TemplateField): [string, string] {
  const need = field.required ? 'required' : 'optional';
  return [safeLine(field.type ?? ''), safeLine(`${field.label ?? field.fieldId ?? ''} (${need})`)];
}
