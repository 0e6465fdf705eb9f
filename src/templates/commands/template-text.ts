import type { Template, TemplateField } from '../../api/schemas.ts';
import { counted } from '../../kernel/duration.ts';
import { command } from '../../kernel/text/shell-words.ts';
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

/** How many lines fit on a screen of 24 lines. */
const MAX_LINES = 21;

/** Renders a template: its roles with their source, and its fields by page. Unless `all` is set, only as many as fit on a screen. */
export function renderTemplate(
  template: Template,
  roles: { names: string[]; inferred: boolean },
  terminal: Terminal,
  all: boolean,
): string {
  const from = roles.inferred ? ' (inferred from earlier envelopes)' : '';
  const shownRoles =
    roles.names.length > 0 ? `${roles.names.join(', ')}${from}` : 'not returned by the service';
  const pairs: [string, string][] = [
    ['Pages', String(template.pageCount ?? '')],
    ['Roles', safeLine(shownRoles)],
  ];
  const head = [
    `${terminal.style('bold', safeLine(template.id))}  ${safeLine(template.name ?? '')}\n`,
    template.description ? `  ${indented(safeLine(template.description), 2, terminal)}\n` : '',
    renderPairs(pairs, terminal, '  '),
  ].join('');
  const fields = [...(template.fields ?? [])].sort((a, b) => pageOf(a) - pageOf(b));
  const text = `${head}${renderPages(fields, fields.length, terminal)}`;
  if (all || !terminal.outIsTty || lineCount(text) <= MAX_LINES) return text;
  let shown = fields.length - 1;
  const shortened = () =>
    `${head}${renderPages(fields, shown, terminal)}${moreFields(template, fields, shown)}`;
  while (shown > 1 && lineCount(shortened()) > MAX_LINES) shown--;
  return shortened();
}

function lineCount(text: string): number {
  return text.split('\n').length - 1;
}

function moreFields({ id }: Template, fields: readonly TemplateField[], shown: number): string {
  return `\n… and ${counted(fields.length - shown, 'more field')}. To show all:  ${command('templates', 'get', id, '--all')}\n`;
}

function pageOf({ page }: TemplateField): number {
  return page ?? 0;
}

/** Renders the first fields under the titles of their pages, which have the number of all fields on the page. */
function renderPages(fields: readonly TemplateField[], shown: number, terminal: Terminal): string {
  const pages = [...new Set(fields.slice(0, shown).map(pageOf))];
  return pages
    .map((page) => {
      const count = fields.filter((field) => pageOf(field) === page).length;
      const title = `${terminal.style('bold', page === 0 ? 'Fields' : `Page ${page}`)}  ${counted(count, 'field')}`;
      const pairs = fields
        .slice(0, shown)
        .filter((field) => pageOf(field) === page)
        .map(fieldPair);
      return `\n${title}\n${renderPairs(pairs, terminal, '  ')}`;
    })
    .join('');
}

function fieldPair(field: TemplateField): [string, string] {
  const need = field.required ? 'required' : 'optional';
  return [safeLine(field.type ?? ''), safeLine(`${field.label ?? field.fieldId ?? ''} (${need})`)];
}
