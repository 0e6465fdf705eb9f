import type { Client } from '../api/client.ts';
import type { Template } from '../api/schemas.ts';
import type { FileReport } from '../bulk/rows/check-file.ts';
import { checkTemplate, findTemplate } from '../bulk/rows/check-templates.ts';
import type { BulkRow } from '../bulk/rows/row.ts';
import { noteTemplate, type TemplateUse } from '../bulk/rows/template-use.ts';
import { rolesOf } from '../envelopes/completeness.ts';
import { sentRoles } from '../templates/roles.ts';
import { type StandIn, standInOf } from '../templates/stand-ins.ts';
import type { UnsentRow } from './rehearse.ts';

/** The templates of a file, by ID; undefined for one that does not exist. */
export type Templates = ReadonlyMap<string, Template | undefined>;

/** Reads the templates. */
export async function readTemplates(
  client: Client,
  ids: Iterable<string>,
  signal?: AbortSignal,
): Promise<Map<string, Template | undefined>> {
  const templates = new Map<string, Template | undefined>();
  for (const id of new Set(ids)) templates.set(id, (await findTemplate(client, id, signal)).template);
  return templates;
}

/** Returns the rows that `bulk create` would send, and those that it would refuse with the reasons. */
export function checkRows(
  rows: readonly BulkRow[],
  { templates, report, allowMissing }: { templates: Templates; report: FileReport; allowMissing: boolean },
): { sendable: BulkRow[]; refused: UnsentRow[] } {
  for (const { line, envelope } of rows) {
    const uses = new Map<string, TemplateUse>();
    noteTemplate(uses, envelope, { line, label: () => '' });
    for (const [id, use] of uses)
      checkTemplate(use, { id, template: templates.get(id) }, report, allowMissing);
  }
  const problems = new Map<number, string[]>();
  for (const { line, column, text } of report.problems.first)
    problems.set(line, [...(problems.get(line) ?? []), column === '' ? text : `${column}: ${text}`]);
  return {
    sendable: rows.filter(({ line }) => !problems.has(line)),
    refused: [...problems].map(([line, texts]) => ({
      line,
      error: { code: 'USAGE', message: `${texts.join('; ')}.`, status: null, details: null },
    })),
  };
}

/** Returns the stand-ins for the templates. If the service shows no roles for a template, those of the rows are used. */
export function standInsFor(templates: Templates, rows: readonly BulkRow[]): StandIn[] {
  return [...templates.values()].flatMap((template) => {
    if (template === undefined) return [];
    const signerLists = rows.flatMap(({ envelope }) =>
      envelope.templateId === template.id ? [envelope.signers] : [],
    );
    const named = [...new Set(signerLists.flatMap((signers) => rolesOf(signers)))];
    const most = signerLists.reduce((highest, { length }) => Math.max(highest, length), 1);
    const unnamed = Array.from({ length: most }, (_, index) => `Signer ${index + 1}`);
    const roles =
      sentRoles(template).length > 0 ? [] : [...named, ...unnamed].slice(0, Math.max(named.length, most));
    return [standInOf(template, roles)];
  });
}
