import type { RowDefaults } from '../../../bulk/rows/row.ts';
import type { Rehearsal } from '../../../rehearsal/rehearse.ts';
import type { ReadOptions } from '../../../tables/table-file.ts';

export interface RehearseRequest {
  file: string;
  read: ReadOptions;
  defaults: RowDefaults;
  mode: 'two-step' | 'one-step';
  reserve: number;
  concurrency: number;
  again: boolean;
  allowMissing: boolean;
  skipExisting: boolean;
  webhookSecret: string | undefined;
  /** Where to write the plan. */
  plan: string | undefined;
  days: number;
  seed: number | undefined;
}

/** A rehearsal with what only the real account shows. */
export interface RehearsalResult extends Rehearsal {
  /** By the account's rate window alone. */
  seconds: number;
  /** Rows that are skipped: an earlier run has sent them. */
  existing: number;
  /** Envelopes sent in this calendar month (UTC), those of the list included. */
  sentThisMonth: number;
  realRequests: number;
}
