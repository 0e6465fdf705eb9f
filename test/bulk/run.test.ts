import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRememberedRows } from '../../src/bulk/remembered-rows.ts';
import { wantedRow } from '../../src/bulk/wanted-row.ts';
import { identifyMachine } from '../../src/kernel/files/process-identity.ts';
import { isWantedRequest, WantedRequests } from '../../src/once/wanted-requests.ts';
import type { RunEntry } from '../../src/runs/journal-entries.ts';
import { filesOf } from '../../src/runs/run-files.ts';
import { RunState } from '../../src/runs/run-state.ts';
import { rowOf } from '../support/bulk-rows.ts';
import { isPrivate } from '../support/private.ts';
import { envelopeOf, fatesOf, Runs } from './rig.ts';

let runs: Runs;
beforeEach(async () => {
  runs = new Runs();
  await runs.open();
});
afterEach(() => runs.close());

const once = (rows: number) =>
  Object.fromEntries(Array.from({ length: rows }, (_, index) => [`s${index + 1}@example.com`, 1]));
const nobody = {};
const MINUTE = 60_000;
/** A process on this machine has stopped, and has no request under way. */
const stopped = (lost = false): RunEntry => ({ type: 'stopped', machine: identifyMachine(), lost });

/** How long a run worked before it sent the first envelope, in ms. */
function msUntilSent(since: number): number {
  return (runs.service.steps.find(({ what }) => what === 'send')?.at ?? Number.NaN) - since;
}

describe('a run', () => {
  it('creates all drafts, reads the list twice, two seconds apart, and then sends each draft once', async () => {
    const { service } = runs;
    const id = await runs.begin(30, 'two-step');
    service.steps.length = 0;
    const { ending, results, reported } = await runs.work(id);
    expect(ending).toEqual({ kind: 'finished' });
    expect([service.emailsByAddress(), service.statuses()]).toEqual([once(30), { SENT: 30 }]);
    expect(service.phases()).toEqual(['create', 'list', 'send']);
    const reads = service.steps.filter(({ what }) => what === 'list').map(({ at }) => at);
    const [first = 0, last = 0] = [reads[0], reads.at(-1)];
    expect(last - first).toBeGreaterThanOrEqual(2_000);
    expect([service.asked('create'), service.asked('send'), service.asked('get')]).toEqual([30, 30, 0]);
    expect(results.map(({ row, ok, status }) => [row, ok, status])).toEqual(
      Array.from({ length: 30 }, (_, index) => [index + 1, true, 'SENT']),
    );
    expect(reported.map(({ row }) => row).sort((a, b) => a - b)).toEqual(results.map(({ row }) => row));
    expect(
      service.envelopes.find(({ signers }) => signers?.[0]?.email === 's7@example.com')?.metadata,
    ).toEqual(envelopeOf(7, id).metadata);
  });

  it('leaves no addresses on disk when it is finished', async () => {
    const id = await runs.begin(3, 'draft');
    const files = filesOf(runs.root, id);
    expect(await readFile(files.plan, 'utf8')).toContain('s1@example.com');
    expect(isPrivate(files.plan)).toBe(true);
    await runs.work(id);
    await expect(readFile(files.plan)).rejects.toThrow('ENOENT');
    expect(await readFile(files.journal, 'utf8')).not.toContain('@example.com');
    expect(runs.service.statuses()).toEqual({ DRAFT: 3 });
  });

  it('creates drafts again whose responses are lost, and cancels the others once one was sent', async () => {
    const { service } = runs;
    const rate = { create: 4, send: 5, cancel: Number.POSITIVE_INFINITY };
    service.behavior = { fateOf: ({ what, nth }) => (nth % rate[what] === 0 ? 'lost' : 'ok') };
    const { ending } = await runs.work(await runs.begin(80, 'two-step'));
    expect(ending).toEqual({ kind: 'finished' });
    expect(service.emailsByAddress()).toEqual(once(80));
    const { SENT, CANCELLED = 0, ...others } = service.statuses();
    expect([SENT, CANCELLED > 10, others]).toEqual([80, true, {}]);
    const first = (what: string) => service.steps.findIndex((step) => step.what === what);
    expect(first('cancel')).toBeGreaterThan(first('send'));
  });

  it.each([700, 50_000])(
    'sends nothing before a list that lags by %i ms shows every draft',
    async (lagMs) => {
      const { service } = runs;
      service.behavior = { ...fatesOf('create', (n) => (n === 2 ? 'lost' : undefined)), listLagMs: lagMs };
      const began = runs.clock.now();
      const { ending } = await runs.work(await runs.begin(3, 'two-step'));
      expect(ending).toEqual({ kind: 'finished' });
      expect([service.emailsByAddress(), service.statuses()]).toEqual([once(3), { SENT: 3, CANCELLED: 1 }]);
      expect(msUntilSent(began)).toBeGreaterThanOrEqual(lagMs + 2_000);
    },
  );

  it('sends nothing if the list does not show its drafts, and can be resumed', async () => {
    const { service } = runs;
    service.behavior = { listLagMs: 5 * MINUTE };
    const id = await runs.begin(3, 'two-step');
    const { ending } = await runs.work(id);
    expect(ending).toMatchObject({ kind: 'stopped', error: { code: 'UNKNOWN_OUTCOME' } });
    expect(service.emailsByAddress()).toEqual(nobody);
    runs.clock.time += 5 * MINUTE;
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.emailsByAddress(), service.statuses()]).toEqual([once(3), { SENT: 3 }]);
  });

  it('sends the draft that another machine created first, and cancels its own', async () => {
    const { service } = runs;
    const other = { ...envelopeOf(2), createdAt: new Date(runs.clock.now() - 500).toISOString() };
    service.behavior = fatesOf('create', (n) => {
      if (n === 1) service.put(other);
      return 'ok';
    });
    const { results } = await runs.work(await runs.begin(3, 'two-step'));
    expect([service.emailsByAddress(), service.statuses()]).toEqual([once(3), { SENT: 3, CANCELLED: 1 }]);
    expect(results[1]).toMatchObject({ ok: true, envelopeId: 'env_1' });
  });

  it('sends no row that another machine has sent meanwhile', async () => {
    const { service } = runs;
    service.behavior = fatesOf('create', (n) => {
      if (n === 3) service.put({ ...envelopeOf(2), status: 'SENT' });
      return 'ok';
    });
    const { results } = await runs.work(await runs.begin(3, 'two-step'), { concurrency: 1 });
    expect([service.emailsByAddress(), service.statuses()]).toEqual([once(3), { SENT: 3, CANCELLED: 1 }]);
    expect(results[1]).toMatchObject({ ok: true, status: 'EXISTING' });
  });

  it('reports a second envelope that has been sent, and keeps it', async () => {
    const { service } = runs;
    const id = await runs.begin(2, 'two-step', { entries: [] });
    for (const createdAt of ['2026-01-02T03:04:00Z', '2026-01-02T03:04:04Z'])
      service.put({ ...envelopeOf(2, id), status: 'IN_PROGRESS', createdAt });
    const { ending, reported } = await runs.work(id);
    expect([ending, service.asked('cancel')]).toEqual([{ kind: 'finished' }, 0]);
    expect(reported.filter(({ ok }) => !ok)).toMatchObject([
      { row: 2, envelopeId: 'env_2', status: 'IN_PROGRESS', error: { code: 'SECOND_ENVELOPE' } },
    ]);
    expect(service.statuses()).toEqual({ SENT: 1, IN_PROGRESS: 2 });
  });
});

describe('a run that was killed', () => {
  it.each([
    ['a minute', 'was killed', [], MINUTE],
    ['a minute', 'stopped after a lost response', [stopped(true)], MINUTE],
    ['a minute', 'stopped on another machine', [{ ...stopped(), machine: 'other' }], MINUTE],
    ['two seconds', 'stopped', [stopped()], 2_000],
  ])('sends nothing for %s after the start if it %s', async (_, _why, entries: RunEntry[], ms) => {
    const id = await runs.begin(3, 'two-step', { entries });
    const began = runs.clock.now();
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect(Math.floor(msUntilSent(began) / 1_000)).toBe(ms / 1_000);
    expect(runs.service.emailsByAddress()).toEqual(once(3));
  });

  it.each([
    ['as listed', {}],
    ['in a list without metadata', { listMetadata: 'missing' }],
  ] as const)('finds and sends a draft if it was killed after creating it, %s', async (_, behavior) => {
    const { service } = runs;
    service.behavior = behavior;
    const id = await runs.begin(3, 'two-step', { entries: [] });
    service.put(envelopeOf(2, id));
    service.put({ metadata: { other: 1 } });
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.asked('create'), service.emailsByAddress()]).toEqual([2, once(3)]);
    expect(service.statuses()).toEqual({ SENT: 3, DRAFT: 1 });
  });

  it('finds a draft whose metadata the list leaves out, although it shows that of others', async () => {
    const { service } = runs;
    service.behavior = { emptyFor: ['env_1', 'env_2'] };
    const id = await runs.begin(2, 'two-step', { entries: [{ type: 'reserved', row: 1, id: 'env_1' }] });
    const createdAt = new Date(runs.clock.now() - MINUTE).toISOString();
    service.put({ ...envelopeOf(1, id), createdAt });
    service.put({ ...envelopeOf(2, id), createdAt });
    service.put({ ...envelopeOf(9, 'run_other'), createdAt });
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.asked('create'), service.emailsByAddress()]).toEqual([0, once(2)]);
    expect(service.statuses()).toEqual({ SENT: 2, DRAFT: 1 });
  });

  it.each([
    ['ignores them', { metadata: envelopeOf(1).metadata }],
    ['does not send drafts of others', { ...envelopeOf(1), metadata: { esignContent: rowOf(1).content } }],
  ])('%s if only a part of their markers is that of a row', async (_, facts) => {
    const { service } = runs;
    service.put({
      ...facts,
      signers: [{ email: 'eve@example.com', name: 'Eve' }],
      metadata: { ...facts.metadata, esignRequestId: 'eve' },
    });
    await runs.work(await runs.begin(1, 'two-step'));
    expect([service.emailsByAddress(), service.statuses()]).toEqual([once(1), { SENT: 1, DRAFT: 1 }]);
  });

  it('sends the older of two drafts of a row, and then cancels the other', async () => {
    const { service } = runs;
    const id = await runs.begin(1, 'two-step', { entries: [{ type: 'reserved', row: 1, id: 'env_1' }] });
    service.put({ ...envelopeOf(1, id), createdAt: '2026-01-02T03:04:04Z' });
    service.put({ ...envelopeOf(1, id), createdAt: '2026-01-02T03:04:03Z' });
    service.steps.length = 0;
    await runs.work(id);
    expect(service.envelopes.map(({ status }) => status)).toEqual(['CANCELLED', 'SENT']);
    expect([service.emailsByAddress(), service.phases()]).toEqual([once(1), ['list', 'send', 'cancel']]);
  });

  it('sends no draft if the list shows within a minute that another one was sent', async () => {
    const { service } = runs;
    const id = await runs.begin(1, 'two-step', { entries: [{ type: 'reserved', row: 1, id: 'env_1' }] });
    service.put(envelopeOf(1, id));
    service.put({ ...envelopeOf(1, id), status: 'SENT' }, runs.clock.now() + 50_000);
    await runs.work(id);
    expect([service.emailsByAddress(), service.statuses()]).toEqual([once(1), { SENT: 1, CANCELLED: 1 }]);
  });

  it('sends the row if it was killed between create and send, whether or not the row was sent', async () => {
    const { service } = runs;
    const entries: RunEntry[] = [
      { type: 'reserved', row: 1, id: 'env_1' },
      { type: 'reserved', row: 2, id: 'env_2' },
    ];
    const id = await runs.begin(2, 'two-step', { entries });
    service.put(envelopeOf(1, id));
    service.put({ ...envelopeOf(2, id), status: 'SENT' });
    const { results } = await runs.work(id);
    expect([service.asked('create'), service.emailsByAddress()]).toEqual([0, once(2)]);
    expect(results.every(({ ok, status }) => ok && status === 'SENT')).toBe(true);
  });

  it('fails a row whose draft somebody canceled, and creates it if that draft was not recorded', async () => {
    const { service } = runs;
    const id = await runs.begin(2, 'two-step', { entries: [{ type: 'reserved', row: 2, id: 'env_2' }] });
    service.put({ ...envelopeOf(1, id), status: 'CANCELLED' });
    service.put({ ...envelopeOf(2, id), status: 'CANCELLED' });
    const { results } = await runs.work(id);
    expect(service.emailsByAddress()).toEqual(once(1));
    expect(results[1]?.error).toMatchObject({ code: 'INVALID_STATE' });
  });

  it('creates a row again whose recorded draft the service does not know', async () => {
    const { service } = runs;
    const id = await runs.begin(2, 'two-step', { entries: [{ type: 'reserved', row: 2, id: 'env_9' }] });
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.emailsByAddress(), service.statuses()]).toEqual([once(2), { SENT: 2 }]);
  });
});

describe('a service that does not keep metadata', () => {
  beforeEach(() => {
    runs.service.behavior = { keys: 'dropped' };
  });

  it('gets each row once from a new run, and warns that it is recorded only on this machine', async () => {
    const { ending, notices } = await runs.work(await runs.begin(3, 'two-step'));
    expect(ending).toEqual({ kind: 'finished' });
    expect([runs.service.emailsByAddress(), runs.service.statuses()]).toEqual([once(3), { SENT: 3 }]);
    expect(notices).toEqual([expect.stringContaining('recorded only on this machine')]);
  });

  it.each([
    ['a response was lost', undefined, fatesOf('create', (n) => (n === 2 ? 'lost' : undefined))],
    ['it was killed', [], {}],
    ['it stopped', [stopped()], {}],
  ] as const)('is sent nothing by a run if %s', async (_, entries, behavior) => {
    const { service } = runs;
    service.behavior = { ...service.behavior, ...behavior };
    const id = await runs.begin(3, 'two-step', entries === undefined ? {} : { entries: [...entries] });
    const { ending } = await runs.work(id);
    expect(ending).toMatchObject({ kind: 'stopped', error: { code: 'UNKNOWN_OUTCOME' } });
    expect(service.emailsByAddress()).toEqual(nobody);
  });
});

describe('the files of a run', () => {
  it('are refused and left unchanged if another version wrote them or if they are damaged in the middle', async () => {
    const id = await runs.begin(2, 'two-step', { entries: [] });
    const { journal, plan } = filesOf(runs.root, id);
    const text = await readFile(journal, 'utf8');
    for (const changed of [
      text.replace('"version":2', '"version":3'),
      text.replace('"rows.csv"', '"rows.txt"'),
    ]) {
      await writeFile(journal, changed);
      await expect(runs.work(id)).rejects.toThrow(/can't be used|is damaged/);
      expect(await readFile(journal, 'utf8')).toBe(changed);
    }
    await writeFile(journal, text);
    await writeFile(plan, (await readFile(plan, 'utf8')).replace('s2@', 'x2@'));
    const { ending } = await runs.work(id);
    expect(ending).toMatchObject({ kind: 'stopped', error: { code: 'USAGE' } });
    expect(runs.service.emailsByAddress()['s2@example.com']).toBeUndefined();
    await rm(plan);
    expect((await runs.work(id)).ending).toMatchObject({ kind: 'stopped', error: { code: 'USAGE' } });
  });
});

describe('the rows of an earlier run', () => {
  /** What the runs on this machine remember of the first rows of a list. */
  function remembered(rows: number) {
    const wanted = new WantedRequests(isWantedRequest);
    for (let row = 1; row <= rows; row++) wanted.add(row, wantedRow(rowOf(row)));
    return readRememberedRows(runs.root, runs.connected, wanted);
  }

  it('are remembered with their envelopes, and the run only if it is not finished', async () => {
    const finished = await runs.begin(2, 'two-step');
    await runs.work(finished);
    const open = await runs.begin(3, 'two-step', { entries: [{ type: 'reserved', row: 3, id: 'env_3' }] });
    runs.service.put(envelopeOf(3, open));
    const { ids, unfinished } = await remembered(3);
    expect([...new Set(ids.get(1))]).toHaveLength(1);
    expect([ids.get(3), unfinished.map(({ head }) => head.id)]).toEqual([['env_3'], [open]]);
  });

  it("are forgotten if the service has none of that run's envelopes, as after a reset", async () => {
    await runs.work(await runs.begin(30, 'two-step'));
    runs.service.stored.length = 0;
    runs.service.steps.length = 0;
    expect((await remembered(30)).ids.size).toBe(0);
    expect(runs.service.asked('get')).toBeLessThan(6);
  });
});

it('a run owns what it created or sent, not what others created, and not the drafts that another run took over', () => {
  const state = new RunState({
    type: 'run',
    id: 'run-1',
    at: 0,
    file: 'a.csv',
    total: 5,
    mode: 'two-step',
    baseUrl: 'http://127.0.0.1',
    profile: null,
    source: { format: 'csv', encoding: 'utf-8' },
  });
  const error = { code: 'INVALID_STATE', message: '', status: null, details: null };
  state.apply({ type: 'existing', row: 1, id: 'env_sent_by_others', status: 'SENT' });
  state.apply({ type: 'failed', row: 2, id: 'env_declined_of_others', error });
  state.apply({ type: 'reserved', row: 3, id: 'env_draft_of_others', taken: true });
  state.apply({ type: 'done', row: 3, id: 'env_draft_of_others', status: 'SENT' });
  state.apply({ type: 'reserved', row: 4, id: 'env_failed_to_send' });
  state.apply({ type: 'failed', row: 4, id: 'env_failed_to_send', error });
  state.apply({ type: 'reserved', row: 5, id: 'env_draft' });
  const own = ['env_draft_of_others', 'env_failed_to_send'];
  expect([...state.ownEnvelopes()]).toEqual([...own, 'env_draft']);
  state.apply({ type: 'ended', at: 1, by: 'run-2' });
  expect([...state.ownEnvelopes()]).toEqual(own);
});
