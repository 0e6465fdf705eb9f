import type { Client } from '../api/client.ts';
import type { Template } from '../api/schemas.ts';
import type { FileReport } from '../bulk/rows/check-file.ts';
import type { BulkRow } from '../bulk/rows/row.ts';
import { meant, rolesOf, rolesWithoutSigner } from '../envelopes/completeness.ts';
import { listed } from '../kernel/duration.ts';
import { isNotFound } from '../kernel/errors.ts';
import { sentRoles } from '../templates/roles.ts';
import { type StandIn, standInOf } from '../templates/stand-ins.ts';
import type { FailedRow } from './rehearse.ts';

/** The templates of a file, by ID; undefined for one that does not exist. */
export type Templates = ReadonlyMap<string, Template | undefined>;

/** Reads the templates. */
export async function readTemplates(
  client: Client,
  ids: Iterable<string>,
  signal?: AbortSignal,
): Promise<Map<string, Template | undefined>> {
  const templates = new Map<string, Template | undefined>();
  for (const id of new Set(ids)) {
    try {
      templates.set(id, await client.templates.get(id, signal));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      templates.set(id, undefined);
    }
  }
  return templates;
}

/** Returns the rows that `bulk create` would send, and those that it would refuse, with the reason of each. */
export function checkRows(
  rows: readonly BulkRow[],
  { templates, report, allowMissing }: { templates: Templates; report: FileReport; allowMissing: boolean },
): { sendable: BulkRow[]; refused: FailedRow[] } {
  const problems = new Map<number, string[]>();
  const add = (line: number, text: string) => problems.set(line, [...(problems.get(line) ?? []), text]);
  for (const { line, column, text } of report.problems.first)
    add(line, column === '' ? text : `${column}: ${text}`);
  for (const row of rows) {
    const text = templateProblem(row, templates.get(row.envelope.templateId), allowMissing);
    if (text !== undefined) add(row.line, text);
  }
  return {
    sendable: rows.filter(({ line }) => !problems.has(line)),
    refused: [...problems].map(([line, texts]) => ({
      line,
      error: { code: 'USAGE', message: `${texts.join('; ')}.`, status: null, details: null },
    })),
  };
}

function templateProblem(
  { envelope }: BulkRow,
  template: Template | undefined,
  allowMissing: boolean,
): string | undefined {
  if (template === undefined) return `template ${envelope.templateId} does not exist`;
  const roles = sentRoles(template);
  if (roles.length === 0) return undefined;
  const named = rolesOf(envelope.signers);
  const wrong = named.find((role) => !roles.includes(role));
  if (wrong !== undefined) return `${template.id} has no role "${wrong}"; ${meant(wrong, roles)}`;
  const free = envelope.signers.filter(({ role }) => !role).length;
  const missing = allowMissing ? [] : rolesWithoutSigner(named, free, roles);
  return missing.length > 0 ? `nobody signs as ${listed(missing)}` : undefined;
}

/** Returns the stand-ins for the templates. Where the service sends no roles, those of the rows are used. */
export function standInsFor(templates: Templates, rows: readonly BulkRow[]): StandIn[] {
  return [...templates.values()].flatMap((template) => {
    if (template === undefined) return [];
    const casts = rows.flatMap(({ envelope }) =>
      envelope.templateId === template.id ? [envelope.signers] : [],
    );
    const named = [...new Set(casts.flatMap((signers) => rolesOf(signers)))];
    const most = Math.max(1, ...casts.map(({ length }) => length));
    const unnamed = Array.from({ length: most }, (_, index) => `Signer ${index + 1}`);
    const roles =
      sentRoles(template).length > 0 ? [] : [...named, ...unnamed].slice(0, Math.max(named.length, most));
    return [standInOf(template, roles)];
  });
}
