import type { Template, TemplateField } from '../../api/schemas.ts';
import { counted } from '../../kernel/duration.ts';
import type { ListView } from '../../output/print-list.ts';
import { indented, renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import { sentRoles } from '../roles.ts';

/** The columns of a list. Roles are those that the service sends; `templates get` also infers them. */
export function templateList(now: () => number, search?: string): ListView<Template> {
  return {
    id: (one) => one.id,
    empty:
      search === undefined
        ? "No templates yet. Create one in the service's web dashboard."
        : `No templates match "${search}". To list all, run \`esign templates list\`.`,
    columns: [
      { key: 'id', fixed: true },
      { key: 'name' },
      { key: 'roles', value: (one) => sentRoles(one).join(', ') },
      { key: 'pageCount', header: 'PAGES' },
      {
        key: 'updatedAt',
        header: 'UPDATED',
        show: (one) => relativeTime(one.updatedAt, now()),
      },
    ],
  };
}

/** Renders a template: its fields by page, then its roles with their source, which are what a terminal shows of a long template. */
export function renderTemplate(
  template: Template,
  roles: { names: string[]; inferred: boolean },
  terminal: Terminal,
): string {
  const from = roles.inferred ? ' (inferred from earlier envelopes)' : '';
  const shownRoles =
    roles.names.length > 0 ? `${roles.names.join(', ')}${from}` : 'not returned by the service';
  const pairs: [string, string][] = [
    ['Pages', String(template.pageCount ?? '')],
    ['Roles', safeLine(shownRoles)],
  ];
  return [
    `${terminal.style('bold', safeLine(template.id))}  ${safeLine(template.name ?? '')}\n`,
    template.description ? `  ${indented(safeLine(template.description), 2, terminal)}\n` : '',
    renderPages(template.fields ?? [], terminal),
    `\n${renderPairs(pairs, terminal, '  ')}`,
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
