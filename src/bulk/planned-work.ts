import type { PlannedWrite } from '../api/write-gate.ts';
import { comparableSigner } from '../kernel/text/email-address.ts';
import { addressesAskedFirst } from '../once/create-body.ts';
import type { RunMode } from '../runs/journal-entries.ts';
import type { OpenRun } from '../runs/runs.ts';
import { readSavedRows } from '../runs/saved-rows.ts';
import { requestsForRows } from './estimate.ts';

/** A person by their address, as it is written first, and the number of emails that they get. */
export interface EmailedPerson {
  email: string;
  emails: number;
}

/** What a run is going to do, up to the last row that it works on. */
export interface PlannedWork {
  mode: RunMode;
  rows: number;
  signers: number;
  people: readonly EmailedPerson[];
  /** The number of emails when the envelopes are sent, and when it is the turn of later signers. */
  emails: { now: number; later: number };
  requests: number;
  /** The write, for the guards to check. */
  write: PlannedWrite;
}

/** Adds up the work of a run, row by row. */
export class WorkCounter {
  readonly #mode: RunMode;
  /** By the form in which addresses are compared. */
  readonly #people = new Map<string, EmailedPerson>();
  #rows = 0;
  #drafts = 0;
  #signers = 0;
  #now = 0;

  constructor(mode: RunMode) {
    this.#mode = mode;
  }

  /** `askedFirst`: how many of its signers are emailed when it is sent. */
  add(signers: readonly { email: string }[], askedFirst: number, hasDraft: boolean): void {
    this.#rows++;
    this.#drafts += Number(hasDraft);
    this.#signers += signers.length;
    this.#now += askedFirst;
    for (const { email } of signers) {
      const key = comparableSigner(email);
      const person = this.#people.get(key);
      if (person === undefined) this.#people.set(key, { email, emails: 1 });
      else person.emails++;
    }
  }

  /** Returns the work. `addresses`: those that the guards check, if these are not only the ones of this work. */
  total(addresses?: readonly string[]): PlannedWork {
    const people = [...this.#people.values()];
    const emails = addresses ?? people.map(({ email }) => email);
    return {
      mode: this.#mode,
      rows: this.#rows,
      signers: this.#signers,
      people,
      emails: { now: this.#now, later: this.#signers - this.#now },
      requests: requestsForRows(this.#rows - this.#drafts, this.#mode) + this.#drafts,
      write: { action: 'create', emails, sends: this.#mode !== 'draft', emailCount: this.#signers },
    };
  }
}

/** Returns what is left to do for the rows of a run up to the row `last`. */
export async function remainingWork({ state, files }: OpenRun, last: number): Promise<PlannedWork> {
  const tally = new WorkCounter(state.head.mode);
  for await (const { row, envelope } of readSavedRows(files.plan)) {
    if (row > last || state.isFinished(row)) continue;
    tally.add(envelope.signers, addressesAskedFirst(envelope).length, state.of(row) === 'reserved');
  }
  return tally.total();
}
