import { type Party, rolesOf } from '../../envelopes/completeness.ts';
import type { EnvelopeInput } from '../../envelopes/create.ts';
import type { RawRow } from './raw-row.ts';

/** How the rows of a file use a template, to compare it with the template itself. */
export interface TemplateUse {
  line: number;
  rows: number;
  /** Each role that rows name, where it first occurs, and how often. Limited, since more roles mean that columns are mixed up. */
  roles: Map<string, { line: number; column: string; rows: number }>;
  /** Each combination of roles in a row, where it first occurs, and how often. */
  casts: Map<string, Cast>;
}

/** The roles that a row names, and the number of its signers without a role. */
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
  { templateId, signers }: EnvelopeInput,
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
