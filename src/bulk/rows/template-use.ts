import { type Party, rolesOf } from '../../envelopes/completeness.ts';
import type { NewEnvelope } from '../../envelopes/create.ts';
import type { RawRow } from './raw-row.ts';

/** How the rows use a template: what is compared with the template itself. */
export interface TemplateUse {
  line: number;
  rows: number;
  /** Each role that is named, where first and how often; limited, since more mean that columns are mixed up. */
  roles: Map<string, { line: number; column: string; rows: number }>;
  /** Which roles the signers of a row have together, where first and how often. */
  casts: Map<string, Cast>;
}

/** The roles that a row names, and how many of its signers name none. */
export interface Cast {
  line: number;
  rows: number;
  named: readonly string[];
  free: number;
}

const ROLES_KEPT = 50;
const CASTS_KEPT = 1_000;

/** Adds a row to the uses of the templates. */
export function noteTemplate(
  uses: Map<string, TemplateUse>,
  { templateId, signers }: NewEnvelope,
  { line, label }: Pick<RawRow, 'line' | 'label'>,
): void {
  if (templateId === '') return;
  const use: TemplateUse = uses.get(templateId) ?? { line, rows: 0, roles: new Map(), casts: new Map() };
  uses.set(templateId, use);
  use.rows++;
  noteCast(use, signers, line);
  for (const [index, { role }] of signers.entries()) {
    if (role === undefined) continue;
    const known = use.roles.get(role);
    if (known) known.rows++;
    else if (use.roles.size < ROLES_KEPT)
      use.roles.set(role, { line, column: label(`signers.${index}.role`), rows: 1 });
  }
}

function noteCast(use: TemplateUse, signers: readonly Party[], line: number): void {
  const named = [...new Set(rolesOf(signers))].sort();
  const free = signers.filter(({ role }) => !role).length;
  const key = JSON.stringify([named, free]);
  const known = use.casts.get(key);
  if (known) known.rows++;
  else if (use.casts.size < CASTS_KEPT) use.casts.set(key, { line, rows: 1, named, free });
}
