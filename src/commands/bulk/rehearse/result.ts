import type { Mode } from '../../../bulk/entries.ts';
import type { BulkRow } from '../../../bulk/rows/row.ts';
import type { GuardError } from '../../../kernel/errors.ts';
import type { Rehearsal, StandInPage } from '../../../rehearsal/rehearse.ts';
import type { RunRequest } from '../plan.ts';
import type { Caveat } from './caveats.ts';

/** What to rehearse. A list to be sent in waves is rehearsed as one run, and the plan records the waves. */
export interface RehearseRequest extends RunRequest {
  mode: Exclude<Mode, 'draft'>;
  concurrency: number;
  /** The files to write the plan and the page to. */
  plan: string | undefined;
  html: string | undefined;
  days: number;
  seed: number | undefined;
}

/** A rehearsal, with facts that only the real account shows. */
export interface RehearsalResult extends Rehearsal {
  /** The time that the account's rate window alone requires. */
  seconds: number;
  /** The number of rows of the list, and the rows that are sent. */
  rows: number;
  sendable: readonly BulkRow[];
  /** Rows that are skipped because their envelope exists. */
  existing: number;
  /** Rows with an existing draft, which is sent. */
  drafts: number;
  /** Envelopes sent in this calendar month (UTC), including those of the list. */
  sentThisMonth: number;
  realRequests: number;
  /** Requests per 15 minutes, and the share of them that is left for other systems. */
  rate: { requests: number; reserve: number };
  caveats: Caveat[];
  /** The refusal of the list as a whole by a guard. */
  guard: GuardError | undefined;
  /** The first pages of each template's stand-in. */
  pages: StandInPage[];
  /** The service's time, in ms. */
  at: number;
  baseUrl: string;
}
