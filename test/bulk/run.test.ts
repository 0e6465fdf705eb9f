import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEntry } from '../../src/bulk/entries.ts';
import { findEarlierRows, NewRows } from '../../src/bulk/lookup/earlier-rows.ts';
import { runStatusOf } from '../../src/bulk/run-list.ts';
import { filesOf, readRun } from '../../src/bulk/runs.ts';
import { isPrivate } from '../support/private.ts';
import { Runs } from './rig.ts';

let runs: Runs;
beforeEach(async () => {
  runs = new Runs();
  await runs.open();
});
afterEach(() => runs.close());

const once = (rows: number) => new Map(Array.from({ length: rows }, (_, index) => [String(index + 1), 1]));
const marks = (run: string, row: number) => ({
  esignRun: run,
  esignRow: row,
  esignRequestId: `${run}-${row}`,
});

describe('a run', () => {
  it('creates a draft for each row, sends it, and reports it once', async () => {
    const { service } = runs;
    const id = await runs.begin(30, 'two-step');
    const { ending, results, reported } = await runs.work(id);
    expect(ending).toEqual({ kind: 'finished' });
    expect(service.mails).toEqual(once(30));
    expect([service.counts.creates, service.counts.sends, service.counts.looks]).toEqual([30, 30, 0]);
    expect(results.map(({ row, ok, status }) => [row, ok, status])).toEqual(
      Array.from({ length: 30 }, (_, index) => [index + 1, true, 'SENT']),
    );
    expect(reported.map(({ row }) => row).sort((a, b) => a - b)).toEqual(results.map(({ row }) => row));
    expect(service.stored[0]?.metadata).toMatchObject({
      esignRun: id,
      esignRequestId: expect.stringContaining(id) as unknown,
    });
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

  it('finds rows with lost responses in a single walk, and sends them', async () => {
    const { service } = runs;
    service.behavior = {
      create: (n) => (n % 4 === 0 ? 'lose' : undefined),
      send: (n) => (n % 5 === 0 ? 'lose' : undefined),
    };
    const { ending } = await runs.work(await runs.begin(80, 'two-step'));
    expect(ending).toEqual({ kind: 'finished' });
    expect(service.mails).toEqual(once(80));
    expect(service.statuses()).toEqual({ SENT: 80 });
    expect(service.counts.looks).toBeLessThan(6);
  });

  it('creates rows again whose envelopes are not found', async () => {
    const { service } = runs;
    service.behavior = { create: (n) => (n % 3 === 0 ? 'refuse' : undefined) };
    const { ending } = await runs.work(await runs.begin(40, 'two-step'));
    expect(ending).toEqual({ kind: 'finished' });
    expect([service.mails, service.statuses()]).toEqual([once(40), { SENT: 40 }]);
  });

  it('finds the draft of a lost response that the list shows late, and creates no second one', async () => {
    const { service } = runs;
    service.behavior = { create: (n) => (n === 2 ? 'lose' : undefined), lagMs: 50_000 };
    const { ending } = await runs.work(await runs.begin(3, 'two-step'));
    expect(ending).toEqual({ kind: 'finished' });
    expect([service.mails, service.statuses()]).toEqual([once(3), { SENT: 3 }]);
  });

  it('keeps a second envelope that has been sent, and reports it', async () => {
    const { service } = runs;
    const id = await runs.begin(2, 'two-step', { entries: [] });
    service.put({ metadata: marks(id, 2), status: 'IN_PROGRESS' });
    service.put({ metadata: marks(id, 2), status: 'IN_PROGRESS' });
    const { ending, reported } = await runs.work(id);
    expect([ending, service.counts.cancels]).toEqual([{ kind: 'finished' }, 0]);
    expect(reported.filter(({ ok }) => !ok)).toMatchObject([
      { row: 2, envelopeId: 'env_2', status: 'IN_PROGRESS', error: { code: 'SECOND_ENVELOPE' } },
    ]);
    expect(service.statuses()).toEqual({ SENT: 1, IN_PROGRESS: 2 });
  });

  it('fails a row that the service refuses, and completes the others', async () => {
    const { service } = runs;
    service.behavior = { create: (n) => (n === 2 ? { status: 400, code: 'VALIDATION_ERROR' } : undefined) };
    const { ending, results } = await runs.work(await runs.begin(4, 'two-step'), { concurrency: 1 });
    expect(ending).toEqual({ kind: 'finished' });
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true]);
    expect(results[1]?.error).toEqual({
      code: 'VALIDATION_ERROR',
      message: 'refused with VALIDATION_ERROR',
      status: 400,
      details: null,
    });
  });
});

describe('a run that stops', () => {
  it.each([
    ['QUOTA_EXCEEDED', 403],
    ['UNAUTHORIZED', 401],
    ['FORBIDDEN', 403],
  ])('fails no row when it stops due to %s, and can be resumed', async (code, status) => {
    const { service } = runs;
    service.behavior = { create: (n) => (n > 5 ? { status, code } : undefined) };
    const id = await runs.begin(20, 'two-step');
    const { ending, results } = await runs.work(id);
    expect(ending).toMatchObject({ kind: 'stopped', error: { code } });
    expect(results.filter(({ error }) => error !== null)).toEqual([]);
    expect(await runStatusOf(runs.root, await readRun(runs.root, id))).toBe('interrupted');
    service.behavior = {};
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.mails, service.statuses()]).toEqual([once(20), { SENT: 20 }]);
  });

  it('leaves a consistent journal when a signal stops it', async () => {
    const { service } = runs;
    const controller = new AbortController();
    service.behavior = {
      create: (n) => {
        if (n === 6) controller.abort();
        return undefined;
      },
    };
    const id = await runs.begin(50, 'two-step');
    expect((await runs.work(id, { signal: controller.signal })).ending).toEqual({ kind: 'interrupted' });
    service.behavior = {};
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.mails, service.statuses()]).toEqual([once(50), { SENT: 50 }]);
  });
});

describe('a run that was killed', () => {
  it('creates the rows if it was killed before a request', async () => {
    const { service } = runs;
    const id = await runs.begin(5, 'two-step', { entries: [] });
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.counts.creates, service.mails]).toEqual([5, once(5)]);
  });

  it.each([
    ['as listed', {}],
    ['in a list without metadata', { summary: true }],
  ])('finds and sends a draft if it was killed after creating it, %s', async (_, behavior) => {
    const { service } = runs;
    service.behavior = behavior;
    const id = await runs.begin(3, 'two-step', { entries: [] });
    service.put({ metadata: marks(id, 2) });
    service.put({ metadata: { other: 1 } });
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect([service.counts.creates, service.mails]).toEqual([2, once(3)]);
    expect(service.statuses()).toEqual({ SENT: 3, DRAFT: 1 });
  });

  it('finds a draft whose metadata the list leaves out, although it shows that of others', async () => {
    const { service } = runs;
    service.behavior = { empty: ['env_1', 'env_2'] };
    const entries: RunEntry[] = [{ type: 'created', row: 1, id: 'env_1' }];
    const id = await runs.begin(2, 'two-step', { entries });
    const createdAt = new Date(service.clock.now() - 3_600_000).toISOString();
    service.put({ metadata: marks(id, 1), createdAt });
    service.put({ metadata: marks(id, 2), createdAt });
    service.put({ metadata: marks('run_other', 1), createdAt });
    expect((await runs.work(id)).ending).toEqual({ kind: 'finished' });
    expect(service.mails).toEqual(once(2));
    expect(service.statuses()).toEqual({ SENT: 2, DRAFT: 1, CANCELLED: 1 });
  });

  it('stops without creating a row again if the service does not keep metadata', async () => {
    const { service } = runs;
    service.behavior = { forgets: true, create: (number) => (number === 2 ? 'lose' : undefined) };
    const id = await runs.begin(3, 'two-step');
    const { ending } = await runs.work(id);
    expect(ending.kind === 'stopped' && ending.error.message).toMatch(/does not return the metadata/);
    expect(service.counts.creates).toBe(3);
  });

  it('sends one of two drafts if the list showed the first one late', async () => {
    const { service } = runs;
    const id = await runs.begin(1, 'two-step', { entries: [] });
    service.put({ metadata: marks(id, 1), listedFrom: service.clock.now() + 1_000 });
    await runs.work(id);
    expect([service.mails, service.statuses()]).toEqual([once(1), { SENT: 1, CANCELLED: 1 }]);
  });

  it('does not send a draft that it created before the list had been searched', async () => {
    const { service } = runs;
    const entries: RunEntry[] = [{ type: 'created', row: 1, id: 'env_2', unchecked: true }];
    const id = await runs.begin(1, 'two-step', { entries });
    // The list shows neither yet.
    const listedFrom = service.clock.now() + 30_000;
    service.put({ metadata: marks(id, 1), status: 'SENT', listedFrom });
    service.put({ metadata: marks(id, 1), listedFrom });
    await runs.work(id);
    expect([service.mails, service.statuses()]).toEqual([once(1), { SENT: 1, CANCELLED: 1 }]);
  });

  it('does not search again for the envelope of a row whose draft it has chosen', async () => {
    const { service } = runs;
    const entries: RunEntry[] = [{ type: 'created', row: 1, id: 'env_1', unchecked: true }];
    const id = await runs.begin(1, 'two-step', { entries });
    const draft = service.put({ metadata: marks(id, 1) });
    service.behavior = { send: () => ({ status: 401, code: 'UNAUTHORIZED' }) };
    expect((await runs.work(id)).notices).toEqual([expect.stringContaining('Waiting a minute')]);
    service.behavior = {};
    // Even if another copy of the list doesn't show it yet.
    draft.listedFrom = service.clock.now() + 1_000;
    expect((await runs.work(id)).notices).toEqual([]);
    expect([service.mails, service.statuses()]).toEqual([once(1), { SENT: 1 }]);
  });

  it('sends one draft and cancels the other if a row has two', async () => {
    const { service } = runs;
    const id = await runs.begin(1, 'two-step', { entries: [] });
    service.put({ metadata: marks(id, 1) });
    service.put({ metadata: marks(id, 1) });
    await runs.work(id);
    expect([service.mails, service.statuses()]).toEqual([once(1), { SENT: 1, CANCELLED: 1 }]);
  });

  it('sends the row if it was killed between create and send, whether or not the row was sent', async () => {
    const { service } = runs;
    const id = await runs.begin(2, 'two-step', {
      entries: [
        { type: 'created', row: 1, id: 'env_1' },
        { type: 'created', row: 2, id: 'env_2' },
      ],
    });
    service.put({ metadata: marks(id, 1) });
    service.put({ metadata: marks(id, 2), status: 'SENT' });
    const { results } = await runs.work(id);
    expect([service.counts.creates, service.mails]).toEqual([0, once(2)]);
    expect(results.every(({ ok, status }) => ok && status === 'SENT')).toBe(true);
  });

  it('fails a row whose draft somebody canceled, or creates it again if it was not recorded', async () => {
    const { service } = runs;
    const id = await runs.begin(2, 'two-step', {
      entries: [{ type: 'created', row: 2, id: 'env_2' }],
    });
    service.put({ metadata: marks(id, 1), status: 'CANCELLED' });
    service.put({ metadata: marks(id, 2), status: 'CANCELLED' });
    const { results } = await runs.work(id);
    expect(service.mails).toEqual(once(1));
    expect(results[1]?.error).toMatchObject({ code: 'INVALID_STATE' });
  });
});

describe('the files of a run', () => {
  it('are refused and left unchanged if another version wrote them or if they are damaged in the middle', async () => {
    const id = await runs.begin(2, 'two-step', { entries: [] });
    const { journal, plan } = filesOf(runs.root, id);
    const text = await readFile(journal, 'utf8');
    for (const changed of [
      text.replace('"version":1', '"version":2'),
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
    expect(runs.service.mails.get('2')).toBeUndefined();
    await rm(plan);
    expect((await runs.work(id)).ending).toMatchObject({ kind: 'stopped', error: { code: 'USAGE' } });
  });
});

describe('drafts of an unfinished run', () => {
  it('are left to that run, because a new one would send them without searching for their envelopes', async () => {
    const { service } = runs;
    const entries: RunEntry[] = [
      { type: 'resumed', at: service.clock.now() },
      { type: 'created', row: 1, id: 'env_2' },
    ];
    await runs.begin(1, 'two-step', { entries });
    service.put({ metadata: {} });
    service.put({ metadata: {} });
    expect((await earlierRows(1)).get(1)).toMatchObject({ kind: 'unfinished', id: 'env_2' });
  });
});

/** Returns the earlier results for a file with these rows of the run. */
function earlierRows(...rows: number[]) {
  const newRows = new NewRows(false);
  for (const row of rows) {
    const envelope = { templateId: 'tmpl_1', signers: [{ email: `s${row}@example.com`, name: `S ${row}` }] };
    newRows.add({ row, line: row + 1, content: `content-${row}`, cells: '', envelope });
  }
  return earlierOf(newRows);
}

function earlierOf(newRows: NewRows) {
  if (runs.client === undefined) throw new Error('not open');
  return findEarlierRows(runs.root, runs.client, newRows);
}

describe('the rows of an earlier run', () => {
  it('match a row without a request ID, also behind one with the same content and its own ID', async () => {
    await runs.work(await runs.begin(1, 'two-step'));
    const newRows = new NewRows(false);
    const envelope = { templateId: 'tmpl_1', signers: [{ email: 's1@example.com', name: 'S 1' }] };
    const same = { content: 'content-1', cells: '', envelope };
    newRows.add({ row: 1, line: 2, requestId: 'own', ...same });
    newRows.add({ row: 2, line: 3, ...same });
    expect([...(await earlierOf(newRows)).keys()]).toEqual([2]);
  });

  const rows = Array.from({ length: 30 }, (_, index) => index + 1);
  const removeAt = (place: number) => runs.service.stored.splice(place, 1);
  beforeEach(async () => {
    await runs.work(await runs.begin(30, 'two-step'));
    runs.service.counts.gets = 0;
  });

  it('count even if some of its envelopes were deleted', async () => {
    for (const place of [29, 15, 4, 0]) removeAt(place);
    expect((await earlierRows(...rows)).size).toBe(30);
  });

  it("are sent again if the service has none of that run's envelopes, as after a reset", async () => {
    runs.service.stored.length = 0;
    expect((await earlierRows(...rows)).size).toBe(0);
    expect(runs.service.counts.gets).toBeLessThan(6);
  });
});
