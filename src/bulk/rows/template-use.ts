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
  signerSets: Map<string, SignerSet>;
}

/** The roles that a row names, and the number of its signers without a role. */
export interface SignerSet {
  line: number;
  rows: number;
  named: readonly string[];
  free: number;
}

const MAX_ROLES = 50;
const MAX_SIGNER_SETS = 1_000;

/** Adds a row to the uses of the templates. */
export function noteTemplate(
  uses: Map<string, TemplateUse>,
  { templateId, signers }: EnvelopeInput,
  { line, label }: Pick<RawRow, 'line' | 'label'>,
): void {
  if (templateId === '') return;
  const use: TemplateUse = uses.get(templateId) ?? { line, rows: 0, roles: new Map(), signerSets: new Map() };
  uses.set(templateId, use);
  use.rows++;
  noteSignerSet(use, signers, line);
  for (const [index, { role }] of signers.entries()) {
    if (role === undefined) continue;
    const known = use.roles.get(role);
    if (known) known.rows++;
    else if (use.roles.size < MAX_ROLES)
      use.roles.set(role, { line, column: label(`signers.${index}.role`), rows: 1 });
  }
}

function noteSignerSet(use: TemplateUse, signers: readonly Party[], line: number): void {
  const named = [...new Set(rolesOf(signers))].sort();
  const free = signers.filter(({ role }) => !role).length;
  const key = JSON.stringify([named, free]);
  const known = use.signerSets.get(key);
  if (known) known.rows++;
  else if (use.signerSets.size < MAX_SIGNER_SETS) use.signerSets.set(key, { line, rows: 1, named, free });
}
