import type { RosterEntry } from '../../../bulk/roster/roster.ts';
import type { ListView } from '../../../output/list.ts';
import type { TableColumn } from '../../../output/table.ts';

/** A signer of a row, and whether they have signed. */
export interface RosterLine extends RosterEntry {
  row: number;
  email: string;
  name: string | null;
  role: string | null;
}

const COLUMNS: readonly TableColumn<RosterLine>[] = [
  { key: 'row', header: 'ROW', value: ({ row }) => String(row), fixed: true },
  { key: 'email', header: 'EMAIL', value: ({ email }) => email },
  { key: 'name', header: 'NAME', value: ({ name }) => name ?? '' },
  { key: 'role', header: 'ROLE', value: ({ role }) => role ?? '' },
  { key: 'state', header: 'STATE', value: ({ state }) => state, fixed: true },
  { key: 'envelopeId', header: 'ENVELOPE', value: ({ envelopeId }) => envelopeId ?? '' },
  { key: 'signedAt', header: 'SIGNED', value: ({ signedAt }) => signedAt ?? '' },
];

/** The list of who has signed, with a line for each signer. */
export const rosterList: ListView<RosterLine> = {
  id: ({ envelopeId }) => envelopeId ?? '',
  empty: 'The list has no rows.',
  columns: COLUMNS,
};
