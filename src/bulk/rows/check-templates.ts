import type { Client } from '../../api/client.ts';
import type { Template } from '../../api/resource-types.ts';
import { sentRoles } from '../../catalog/template-roles.ts';
import { rolesOf, rolesWithoutSigner, suggestRole } from '../../envelopes/envelope-problems.ts';
import { counted } from '../../kernel/duration.ts';
import { isNotFound } from '../../kernel/request-failures.ts';
import type { FileReport } from './check-file.ts';
import type { TemplateUse } from './template-use.ts';

/** The maximum number of templates to request. A file with more probably has mixed-up columns. */
const MAX_TEMPLATES = 50;

/**
 * Requests each template of the file and reports if it doesn't exist or, if the service shows its roles, lacks a role that a row
 * names. A role without a signer is a problem, or a warning if `allowed`.
 */
export async function checkTemplates(
  client: Client,
  report: FileReport,
  allowed: boolean,
  signal?: AbortSignal,
): Promise<void> {
  for (const [id, use] of [...report.templates].slice(0, MAX_TEMPLATES)) {
    const template = await findTemplate(client, id, use, report, signal);
    if (template !== undefined) checkRoles(template, use, report, allowed);
  }
}

/** Requests a template, and reports if it doesn't exist. */
async function findTemplate(
  client: Client,
  id: string,
  use: TemplateUse,
  report: FileReport,
  signal: AbortSignal | undefined,
): Promise<Template | undefined> {
  try {
    return await client.templates.get(id, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const near = error.subject?.suggestions ?? [];
    const guess = near.length > 0 ? `did you mean ${near.join(' or ')}? ` : '';
    report.problems.add({
      line: use.line,
      column: use.column,
      text: `template ${id} does not exist${otherRowsText(use.rows)}; ${guess}\`esign templates list\` lists all templates`,
    });
    return undefined;
  }
}

/** Where something first occurs, and in how many rows. */
interface TemplateOccurrence {
  line: number;
  column: string;
  rows: number;
}

/** Compares the roles of a template with those of its rows. */
function checkRoles(template: Template, use: TemplateUse, report: FileReport, allowed: boolean): void {
  const roles = sentRoles(template);
  if (roles.length === 0) return;
  const unknown = new Map<string, TemplateOccurrence>();
  const missing = new Map<string, TemplateOccurrence>();
  for (const { line, rows, roles: used } of use.signerSets.values()) {
    const named = rolesOf(used);
    for (const { role, column } of used)
      if (role && !roles.includes(role)) count(unknown, role, { line, column, rows });
    const lacking = rolesWithoutSigner(named, used.length - named.length, roles);
    // The missing role may be the one that an unknown role was meant to be.
    if (lacking.length > 0 && named.every((role) => roles.includes(role)))
      count(missing, lacking.join(' or '), { line, column: '', rows });
  }
  for (const [role, { rows, ...place }] of unknown) {
    const text = `${template.id} has no role "${role}"${otherRowsText(rows)}; ${suggestRole(role, roles)}`;
    report.problems.add({ ...place, text });
  }
  const findings = allowed ? report.warnings : report.problems;
  const advice = allowed ? '' : '; add a signer for it, or pass --allow-missing-roles';
  for (const [names, { rows, ...place }] of missing) {
    report.isIncomplete = true;
    findings.add({ ...place, text: `no signer has the role ${names}${otherRowsText(rows)}${advice}` });
  }
}

function count(found: Map<string, TemplateOccurrence>, what: string, one: TemplateOccurrence): void {
  const first = found.get(what);
  if (first === undefined) found.set(what, one);
  else first.rows += one.rows;
}

function otherRowsText(rows: number): string {
  return rows > 1 ? ` (also in ${counted(rows - 1, 'more row')})` : '';
}
