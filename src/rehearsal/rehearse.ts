import { join } from 'node:path';
import type { Mode, RowError } from '../bulk/entries.ts';
import type { BulkRow } from '../bulk/rows/row.ts';
import { processRun } from '../bulk/run.ts';
import { draftRun } from '../bulk/runs.ts';
import { requestIdsIn } from '../envelopes/request-ids/request-ids.ts';
import { timeOf } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { SampleBasis } from '../statistics/turn-history.ts';
import type { AccountHistory } from './history.ts';
import type { RehearsalService } from './service.ts';
import { type RehearsedEnvelope, type SignersFacts, type SlowTurn, simulateSigners } from './signers.ts';

/** A row that would not be sent. */
export interface UnsentRow {
  line: number;
  error: RowError;
}

/** The expected results within the days of the rehearsal. */
export interface Expected {
  completed: number;
  declined: number;
  expired: number;
  /** Days from now until 50% and 90% of the envelopes are completed; null if that is not reached. */
  day50: number | null;
  day90: number | null;
}

/** A signer who would take longer than 85% of the earlier turns. */
export type SlowRow = Omit<SlowTurn, 'row'> & { line: number };

export interface Rehearsal {
  envelopes: number;
  signers: number;
  /** Number of invitations. */
  emails: number;
  requests: number;
  failed: UnsentRow[];
  expected: Expected;
  /** The broadest group of earlier turns that was used. */
  basis: SampleBasis;
  /** Slowest first. */
  late: SlowRow[];
  /** Days from now until the completion of each completed envelope, ascending. */
  completionDays: number[];
  /** The first pages of each template's stand-in. */
  pages: StandInPage[];
}

export interface RehearsalFacts extends SignersFacts {
  rows: readonly BulkRow[];
  mode: Exclude<Mode, 'draft'>;
  concurrency: number;
  redact: (text: string) => string;
}

const OUTAGE_TIMEOUT_MS = 60_000;
/** From the narrowest group of earlier turns to the broadest. */
const BASES: readonly SampleBasis[] = ['template+role', 'template', 'account', 'default'];

/** Sends the rows in the sandbox the way `bulk create` does, and lets the signers act until the days are over. */
export async function rehearse(service: RehearsalService, facts: RehearsalFacts): Promise<Rehearsal> {
  const startedAt = service.clock.now();
  const failed = await sendRows(service, facts);
  const requests = service.requests();
  const late = await simulateSigners(service, facts);
  const envelopes = (await service.sandbox.control.envelopes()).filter(({ sentAt }) => sentAt !== null);
  const completionDays = envelopes
    .filter(({ status }) => status === 'COMPLETED')
    .map(({ completedAt }) => (timeOf(completedAt) - startedAt) / DAY_MS)
    .sort((a, b) => a - b);
  const mails = await service.sandbox.control.mails({});
  const requestsToSign = mails.filter(({ kind }) => kind === 'request');
  return {
    envelopes: envelopes.length,
    signers: envelopes.reduce((sum, { signers }) => sum + signers.length, 0),
    emails: requestsToSign.length,
    requests,
    failed,
    expected: {
      completed: completionDays.length,
      declined: count(envelopes, 'DECLINED'),
      expired: count(envelopes, 'EXPIRED'),
      day50: dayOf(completionDays, envelopes.length, 0.5),
      day90: dayOf(completionDays, envelopes.length, 0.9),
    },
    basis: broadestBasis(envelopes, facts.history),
    late: late
      .map(({ row, ...turn }) => ({ line: facts.rows[row - 1]?.line ?? row, ...turn }))
      .sort((a, b) => b.waitingMs - a.waitingMs || a.line - b.line),
    completionDays,
    pages: firstPages(service.sandbox.control.templates()),
  };
}

async function sendRows(service: RehearsalService, facts: RehearsalFacts): Promise<UnsentRow[]> {
  const { client, clock, folder } = service;
  const { rows } = facts;
  if (rows.length === 0) return [];
  const draft = await draftRun(join(folder, 'bulk'), clock.now());
  for (const [index, row] of rows.entries()) await draft.add(rehearsed(row, index + 1));
  const run = await draft.start({
    at: clock.now(),
    file: 'rehearsal',
    total: rows.length,
    signers: rows.reduce((sum, { envelope }) => sum + envelope.signers.length, 0),
    mode: facts.mode,
    baseUrl: service.sandbox.baseUrl,
    profile: null,
    fingerprint: '',
    // A new sandbox doesn't know any request IDs.
    ownRequestIds: 0,
    account: client.account,
  });
  try {
    const ending = await processRun(run, {
      client,
      ids: requestIdsIn(folder, client),
      concurrency: facts.concurrency,
      maxOutageMs: OUTAGE_TIMEOUT_MS,
      signal: facts.signal,
      redact: facts.redact,
      observer: { row: () => undefined, notice: () => undefined },
    });
    facts.signal.throwIfAborted();
    if (ending.kind === 'stopped') throw ending.error;
    return [...run.state.rows('failed')].flatMap((row) => {
      const error = run.state.errorOf(row);
      return error === undefined ? [] : [{ line: rows[row - 1]?.line ?? row, error }];
    });
  } finally {
    await run.close();
  }
}

/** Returns the row for the sandbox, without its request ID and webhook, which belong to the real service. */
function rehearsed({ requestId: _requestId, envelope, ...row }: BulkRow, number: number): BulkRow {
  const { webhookUrl: _webhookUrl, ...rest } = envelope;
  return { ...row, row: number, envelope: rest };
}

function count(envelopes: readonly RehearsedEnvelope[], status: string): number {
  return envelopes.filter((envelope) => envelope.status === status).length;
}

/** Returns the day on which this share of the envelopes is completed, rounded to a tenth. */
function dayOf(completionDays: readonly number[], total: number, share: number): number | null {
  const needed = Math.ceil(total * share);
  const day = needed === 0 ? undefined : completionDays[needed - 1];
  return day === undefined ? null : Math.round(day * 10) / 10;
}

function broadestBasis(envelopes: readonly RehearsedEnvelope[], history: AccountHistory): SampleBasis {
  const used = new Set(
    envelopes.flatMap(({ templateId, signers }) =>
      signers.map(({ role }) => history.basisOf({ templateId, role })),
    ),
  );
  return BASES.filter((basis) => used.has(basis)).at(-1) ?? 'default';
}

type SandboxTemplate = ReturnType<Sandbox['control']['templates']>[number];

/** A page of a template's stand-in, with its fields. Positions are in points from the top left corner of an A4 page. */
export interface StandInPage extends Pick<SandboxTemplate, 'id' | 'name' | 'pageCount'> {
  page: number;
  fields: Pick<
    SandboxTemplate['fields'][number],
    'label' | 'type' | 'role' | 'required' | 'x' | 'y' | 'width' | 'height'
  >[];
}

const MAX_PAGES = 3;

/** Returns the first three pages of each stand-in. */
function firstPages(templates: readonly SandboxTemplate[]): StandInPage[] {
  return templates.flatMap(({ id, name, pageCount, fields }) =>
    Array.from({ length: Math.min(MAX_PAGES, pageCount) }, (_, index) => ({
      id,
      name,
      pageCount,
      page: index + 1,
      fields: fields.filter(({ page }) => page === index + 1),
    })),
  );
}
