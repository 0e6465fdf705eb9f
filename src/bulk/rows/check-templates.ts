import type { Client } from '../../api/client.ts';
import type { Template } from '../../api/schemas.ts';
import { counted } from '../../kernel/duration.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { nearest } from '../../kernel/nearest.ts';
import { sentRoles } from '../../templates/roles.ts';
import type { FileReport, TemplateUse } from './check-file.ts';

/** More templates than this in one file are a mix-up of columns; only so many are asked for. */
const MOST = 50;

/** Asks for each template of the file: it must exist and, where it tells its roles, have those that are named. */
export async function checkTemplates(
  client: Client,
  report: FileReport,
  signal?: AbortSignal,
): Promise<void> {
  for (const [id, use] of [...report.templates].slice(0, MOST)) {
    const template = await templateOf(client, id, signal);
    if (template === undefined) {
      report.problems.add({
        line: use.line,
        column: '',
        text: `there is no template ${id}${others(use.rows)}; \`esign templates list\` shows them`,
      });
    } else checkRoles(sentRoles(template), id, use, report);
  }
}

async function templateOf(client: Client, id: string, signal?: AbortSignal): Promise<Template | undefined> {
  try {
    return await client.templates.get(id, signal);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

function checkRoles(roles: readonly string[], id: string, use: TemplateUse, report: FileReport): void {
  if (roles.length === 0) return;
  for (const [role, { line, column, rows }] of use.roles) {
    if (roles.includes(role)) continue;
    const meant = nearest(role, roles);
    const hint = meant === undefined ? `it has ${roles.join(', ')}` : `did you mean ${meant}?`;
    report.problems.add({ line, column, text: `${id} has no role "${role}"${others(rows)}; ${hint}` });
  }
}

function others(rows: number): string {
  return rows > 1 ? ` (and so in ${counted(rows - 1, 'more row')})` : '';
}
