import type { BulkRow, RowDefaults } from '../../../bulk/rows/row.ts';
import type { WaveSizes } from '../../../bulk/waves.ts';
import type { Rehearsal } from '../../../rehearsal/rehearse.ts';
import type { StandInPage } from '../../../rehearsal/stand-in-page.ts';
import type { ReadOptions } from '../../../tables/table-file.ts';
import type { Caveat } from './caveats.ts';

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
  /** Rehearsed as one run; recorded in the plan. */
  waves: WaveSizes | undefined;
  /** Where to write the plan, and the page. */
  plan: string | undefined;
  html: string | undefined;
  days: number;
  seed: number | undefined;
}

/** A rehearsal with what only the real account shows. */
export interface RehearsalResult extends Rehearsal {
  /** By the account's rate window alone. */
  seconds: number;
  /** Rows of the list, and those that are sent. */
  rows: number;
  sendable: readonly BulkRow[];
  /** Rows that are skipped: their envelope exists. */
  existing: number;
  /** Rows of which a draft exists, which is sent. */
  drafts: number;
  /** Envelopes sent in this calendar month (UTC), those of the list included. */
  sentThisMonth: number;
  realRequests: number;
  /** Requests per 15 minutes, and the share of them that is left to other systems. */
  rate: { requests: number; reserve: number };
  caveats: Caveat[];
  /** The first pages of each template's stand-in. */
  pages: StandInPage[];
  /** The service's time, in ms. */
  at: number;
  baseUrl: string;
}
