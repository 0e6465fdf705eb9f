import type { Client } from '../../api/client.ts';
import type { Template } from '../../api/schemas.ts';
import { rolesWithoutSigner, suggestRole } from '../../envelopes/completeness.ts';
import { counted, listed } from '../../kernel/duration.ts';
import { isNotFound } from '../../kernel/request-failures.ts';
import { sentRoles } from '../../templates/roles.ts';
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
    checkTemplate(use, await findTemplate(client, id, signal), report, allowed);
  }
}

/** A template that is named in a file. */
export interface FoundTemplate {
  id: string;
  /** Undefined if it doesn't exist. */
  template: Template | undefined;
  /** Similar IDs, if it doesn't exist. */
  near?: readonly string[];
}

/** Compares the rows of a template with the template itself. */
function checkTemplate(
  use: TemplateUse,
  { id, template, near = [] }: FoundTemplate,
  report: FileReport,
  allowed: boolean,
): void {
  if (template === undefined) {
    const guess = near.length > 0 ? `did you mean ${near.join(' or ')}? ` : '';
    report.problems.add({
      line: use.line,
      column: '',
      text: `template ${id} does not exist${others(use.rows)}; ${guess}\`esign templates list\` lists all templates`,
    });
    return;
  }
  const roles = sentRoles(template);
  checkRoles(roles, id, use, report);
  checkSignerSets(roles, use, report, allowed);
}

/** Requests a template. If it doesn't exist, the error may include similar IDs. */
async function findTemplate(client: Client, id: string, signal?: AbortSignal): Promise<FoundTemplate> {
  try {
    return { id, template: await client.templates.get(id, signal) };
  } catch (error) {
    if (isNotFound(error)) return { id, template: undefined, near: error.subject?.suggestions ?? [] };
    throw error;
  }
}

function checkRoles(roles: readonly string[], id: string, use: TemplateUse, report: FileReport): void {
  if (roles.length === 0) return;
  for (const [role, { line, column, rows }] of use.roles) {
    if (roles.includes(role)) continue;
    report.problems.add({
      line,
      column,
      text: `${id} has no role "${role}"${others(rows)}; ${suggestRole(role, roles)}`,
    });
  }
}

function checkSignerSets(
  roles: readonly string[],
  use: TemplateUse,
  report: FileReport,
  allowed: boolean,
): void {
  const findings = allowed ? report.warnings : report.problems;
  for (const { line, rows, named, free } of use.signerSets.values()) {
    const known = named.filter((role) => roles.includes(role));
    // The wrong role has already been reported, and the missing role may be the intended one.
    if (known.length < named.length) continue;
    const missing = rolesWithoutSigner(named, free, roles);
    if (missing.length === 0) continue;
    report.isIncomplete = true;
    const text = `nobody signs as ${listed(missing)}${others(rows)}`;
    findings.add({
      line,
      column: '',
      text: allowed ? text : `${text}; add a signer for it, or pass --allow-missing-roles`,
    });
  }
}

function others(rows: number): string {
  return rows > 1 ? ` (also in ${counted(rows - 1, 'more row')})` : '';
}
