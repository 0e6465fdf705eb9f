import type { EnvelopeInput } from '../../once/create-body.ts';
import type { RawRow } from './raw-row.ts';

/** How the rows of a file use a template, to compare it with the template itself. */
export interface TemplateUse {
  /** The line of the first row. */
  line: number;
  /** The column of the ID; empty if it isn't in the file. */
  column: string;
  rows: number;
  /** Each combination of roles in a row. Limited, since many mean that columns are mixed up. */
  signerSets: Map<string, SignerSet>;
}

/** The roles of the signers of a row, where this combination first occurs, and how often. */
export interface SignerSet {
  line: number;
  rows: number;
  /** Undefined for a signer without a role. */
  roles: readonly { role: string | undefined; column: string }[];
}

const MAX_SIGNER_SETS = 1_000;

/** Adds a row to the uses of the templates. */
export function countTemplateUse(
  uses: Map<string, TemplateUse>,
  { templateId, signers }: EnvelopeInput,
  { line, label, cell }: Pick<RawRow, 'line' | 'label' | 'cell'>,
): void {
  if (templateId === '') return;
  const use: TemplateUse = uses.get(templateId) ?? {
    line,
    column: cell(['templateId']) ? label('templateId') : '',
    rows: 0,
    signerSets: new Map(),
  };
  uses.set(templateId, use);
  use.rows++;
  const key = JSON.stringify(signers.map(({ role }) => role));
  const known = use.signerSets.get(key);
  if (known) known.rows++;
  else if (use.signerSets.size < MAX_SIGNER_SETS) {
    const roles = signers.map(({ role }, index) => ({ role, column: label(`signers.${index}.role`) }));
    use.signerSets.set(key, { line, rows: 1, roles });
  }
}
