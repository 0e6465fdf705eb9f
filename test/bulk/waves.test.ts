import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRun } from '../../src/bulk/runs.ts';
import { figureOf, readShares, waveEnds } from '../../src/bulk/waves.ts';
import { requireSameOrganization } from '../../src/commands/bulk/run.ts';
import { figureText, readLimits, stopIfText } from '../../src/commands/bulk/waves.ts';
import { JournalError } from '../../src/kernel/errors.ts';
import { seeded } from '../support/faulty-proxy.ts';
import { Runs } from './rig.ts';

describe('the rows of a wave', () => {
  it('are divided by size, with the remainder in the last wave', () => {
    expect(waveEnds([20, 200], 1_000, () => true)).toEqual([20, 220, 1_000]);
    expect(waveEnds([20, 200], 100, () => true)).toEqual([20, 100]);
    expect(waveEnds([5], 5, () => true)).toEqual([5]);
    expect(waveEnds([], 7, () => true)).toEqual([7]);
  });

  it('include only rows that need work', () => {
    expect(waveEnds([2, 1], 8, (row) => row > 3)).toEqual([5, 6, 8]);
    expect(waveEnds([2], 5, (row) => row < 3)).toEqual([5]);
  });
});

describe('a limit', () => {
  it('is exceeded only above its share', () => {
    expect(figureOf('declined', 2, 100, 0.02).isExceeded).toBe(false);
    expect(figureOf('declined', 3, 100, 0.02).isExceeded).toBe(true);
    expect(figureOf('failed', 0, 0, 0).isExceeded).toBe(false);
  });

  it('has the exact value of its text', () => {
    const [limit] = readLimits('failed>0.7%');
    expect(figureOf('failed', 7, 1_000, limit?.above ?? 0).isExceeded).toBe(false);
    expect(stopIfText(readLimits('declined>0.25%, failed>33.333%'))).toBe('declined>0.25%,failed>33.333%');
  });

  it('reports the confidence for a share of few rows', () => {
    const [low, high] = figureOf('declined', 2, 20, 0.02).range;
    expect([low, high]).toEqual([expect.closeTo(0.028, 3), expect.closeTo(0.301, 3)]);
  });

  it.each([
    [2, 20, false],
    [1, 20, true],
    [0, 20, true],
    [0, 400, false],
  ])('reports whether %i of %i are enough to be sure of a limit of 2 percent', (count, of, areTooFew) => {
    expect(figureText(figureOf('declined', count, of, 0.02)).includes('too small')).toBe(areTooFew);
  });
});

describe('a run in waves', () => {
  let runs: Runs;
  beforeEach(async () => {
    runs = new Runs();
    await runs.open();
  });
  afterEach(() => runs.close());

  const begin = (ends: number[], mode: 'two-step' | 'one-step' = 'two-step') =>
    runs.begin(ends.at(-1) ?? 0, mode, { entries: [{ type: 'waves', ends, stopIf: [] }] });

  it('sends one wave and leaves the rest', async () => {
    const id = await begin([2, 5, 6]);
    expect((await runs.work(id)).ending).toEqual({ kind: 'wave' });
    expect([...runs.service.mails.keys()].sort()).toEqual(['1', '2']);
    expect(runs.service.stored.filter(({ status }) => status === 'DRAFT')).toEqual([]);
  });

  it('continues if some of its envelopes were deleted', async () => {
    const stopIf = [{ share: 'waiting', above: 0.4 } as const];
    const id = await runs.begin(4, 'two-step', { entries: [{ type: 'waves', ends: [3, 4], stopIf }] });
    await runs.work(id);
    runs.service.stored.shift();
    const [state, { client }] = [await readRun(runs.root, id), runs];
    if (client === undefined) throw new Error('not open');
    const { signal } = new AbortController();
    await requireSameOrganization(state, client, { signal });
    expect(await readShares(state, client, signal)).toMatchObject([{ count: 2, of: 3, isExceeded: true }]);
    runs.service.stored.length = 0;
    await expect(requireSameOrganization(state, client, { signal })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('counts only failed rows that were tried', async () => {
    const { service } = runs;
    const error = { code: 'INVALID_STATE', message: '', status: 400, details: null };
    const stopIf = [{ share: 'failed', above: 0.4 } as const];
    const id = await runs.begin(6, 'two-step', {
      entries: [
        { type: 'waves', ends: [5, 6], stopIf },
        { type: 'created', row: 2, id: service.put({ metadata: {} }).id, adopted: true },
        { type: 'failed', row: 1, error },
        { type: 'failed', row: 6, error },
      ],
    });
    service.behavior = {
      create: (n) => (n === 1 ? { status: 400, code: 'VALIDATION_ERROR' } : undefined),
      send: (n) => (n === 1 ? { status: 400, code: 'VALIDATION_ERROR' } : undefined),
    };
    await runs.work(id, { concurrency: 1 });
    const [state, { client }] = [await readRun(runs.root, id), runs];
    if (client === undefined) throw new Error('not open');
    expect(state.count('failed')).toBe(4);
    expect(await readShares(state, client, new AbortController().signal)).toMatchObject([
      { count: 2, of: 4, isExceeded: true },
    ]);
  });

  it.each([...(['two-step', 'one-step'] as const)])(
    'emails each row once and stops at each wave, killed at any entry: %s',
    async (mode) => {
      for (let seed = 1; seed <= 12; seed++) {
        const rig = new Runs();
        await rig.open();
        try {
          expect(await throughKills(rig, seed, mode)).toEqual([]);
        } finally {
          await rig.close();
        }
      }
    },
  );
});

/** Sends three waves with kills, and returns broken promises. */
async function throughKills(rig: Runs, seed: number, mode: 'two-step' | 'one-step'): Promise<string[]> {
  const random = seeded(seed);
  const ends = [2, 5, 8];
  const wrong: string[] = [];
  const id = await rig.begin(8, mode, { entries: [{ type: 'waves', ends, stopIf: [] }] });
  rig.service.behavior = { create: () => (random() < 0.1 ? 'lose' : undefined) };
  let wave = 1;
  for (let attempt = 0; attempt < 40; attempt++) {
    await rig.service.clock.sleep(3_600_000);
    const steps = attempt > 20 ? Number.POSITIVE_INFINITY : Math.floor(random() * 14);
    const ending = await killedAfter(rig, id, steps, wave);
    const state = await readRun(rig.root, id);
    const beyond = [...rig.service.mails.keys()].filter((row) => Number(row) > (ends[wave - 1] ?? 0));
    if (beyond.length > 0) wrong.push(`rows ${beyond.join()} were sent in wave ${wave}`);
    if (ending === 'finished') break;
    wave = state.nextWave ?? wave;
  }
  for (let row = 1; row <= 8; row++) {
    const mails = rig.service.mails.get(String(row)) ?? 0;
    if (mails !== 1) wrong.push(`row ${row} was sent ${mails} times`);
  }
  const drafts = rig.service.stored.filter(({ status }) => status === 'DRAFT').length;
  return drafts === 0 ? wrong : [...wrong, `${drafts} drafts are left`];
}

/** A process that begins the wave, unless it has begun, and is killed at an entry of its journal. */
async function killedAfter(rig: Runs, id: string, steps: number, wave: number): Promise<string> {
  const killer = new AbortController();
  const take = rig.take.bind(rig);
  rig.take = async (name) => {
    const run = await take(name);
    const note = run.note.bind(run);
    let left = steps;
    run.note = async (entry) => {
      if (left-- <= 0) killer.abort();
      if (killer.signal.aborted) throw new JournalError('killed');
      await note(entry);
    };
    if (run.state.wave < wave) await note({ type: 'wave', wave, at: 0 });
    return run;
  };
  try {
    return (await rig.work(id, { signal: killer.signal, concurrency: 2 })).ending.kind;
  } catch (error) {
    if (error instanceof JournalError) return 'killed';
    throw error;
  } finally {
    rig.take = take;
  }
}
