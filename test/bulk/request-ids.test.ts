import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBody } from '../../src/envelopes/create.ts';
import { createEnvelope } from '../../src/envelopes/create-once.ts';
import { contentHashOf, createKey } from '../../src/log/keys.ts';
import type { LogRecord } from '../../src/log/records.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import { Runs } from './rig.ts';

let runs: Runs;
beforeEach(async () => {
  runs = new Runs();
  await runs.open();
});
afterEach(async () => {
  await runs.close();
});

function connected() {
  if (runs.client === undefined) throw new Error('not open');
  return { client: runs.client, memory: runs.memory };
}

const contentOfRow = (row: number) => ({
  templateId: 'tmpl_1',
  signers: [{ email: `s${row}@example.com`, name: `S ${row}` }],
});
const codesOf = (results: readonly { error: { code: string } | null }[]) =>
  results.map(({ error }) => error?.code);
const live = () => runs.service.stored.filter(({ status }) => status !== 'CANCELLED');

describe('a request ID in the file', () => {
  it.each([0, 40_000])(
    'creates one envelope when `create` uses it at the same time, with a list that lags by %i ms',
    async (lagMs) => {
      const { client, memory } = connected();
      const { service } = runs;
      service.behavior = { lagMs };
      const id = await runs.begin(6, 'two-step', { requestIds: true });
      const creates = [2, 4, 6].map((row) =>
        createEnvelope(client, createBody({ ...contentOfRow(row), send: true }, `own-${row}`), {
          memory,
          rerun: true,
        }),
      );
      const [{ ending }] = await Promise.all([runs.work(id), ...creates]);
      expect(ending).toEqual({ kind: 'finished' });
      expect(live().map(({ metadata }) => metadata.esignRequestId)).toHaveLength(6);
      expect([...service.mails.values()].reduce((sum, count) => sum + count)).toBe(6);
    },
  );

  it('is not reused after `create` lost its response and the list shows the envelope late', async () => {
    const { client, memory } = connected();
    runs.service.behavior = { create: () => 'lose', lagMs: 30_000 };
    const killed = () => {
      throw new Error('killed');
    };
    const body = createBody({ ...contentOfRow(1), send: true }, 'own-1');
    await createEnvelope(client, body, { memory, rerun: false, searching: killed }).catch(() => undefined);
    runs.service.behavior = {};
    const { ending, results } = await runs.work(await runs.begin(2, 'two-step', { requestIds: true }));
    expect(ending).toEqual({ kind: 'finished' });
    expect(results[0]).toMatchObject({ status: 'EXISTING', envelopeId: 'env_1' });
    expect(live().filter(({ metadata }) => metadata.esignRequestId === 'own-1')).toHaveLength(1);
  });

  it.each([
    ['begins', 'another'],
    ['begins again', 'first'],
  ])('waits for another process whose create %s after the search', async (_, id) => {
    const { client, memory } = connected();
    const { service } = runs;
    const attempt = (write: string): LogRecord => {
      const { time } = service.clock;
      return {
        type: 'intent',
        id: write,
        at: new Date(time).toISOString(),
        until: new Date(time + 30_000).toISOString(),
        serviceAt: new Date(time).toISOString(),
        key: createKey(client.baseUrl, 'own-2'),
        content: contentHashOf(contentOfRow(2)),
        action: 'create',
        effect: 'mails',
        envelopeIds: [],
        requestId: 'own-2',
        user: 'bo',
        profile: null,
        baseUrl: client.baseUrl,
        account: client.account,
        command: 'envelopes create',
      };
    };
    const run = await runs.begin(2, 'two-step', { requestIds: true });
    if (id === 'first') await memory.append([attempt('first')]);
    const before = service.counts.looks;
    let absent = 0;
    let hasBegun = false;
    const watched: WriteMemory = {
      place: memory.place,
      append: (records) => {
        absent += records.filter(({ type }) => type === 'absent').length;
        return memory.append(records);
      },
      async find(hashes) {
        // The run has read the list, and looks into the log before it creates row 2.
        if (service.counts.looks > before && !hasBegun) {
          hasBegun = true;
          await memory.append([attempt(id)]);
          service.behavior = { list: putOnce };
        }
        return memory.find(hashes);
      },
    };
    function putOnce() {
      service.behavior = {};
      service.put({ metadata: { esignRequestId: 'own-2' }, status: 'SENT' });
      return undefined;
    }
    const { results } = await runs.work(run, { memory: watched });
    expect(results[1]).toMatchObject({ status: 'EXISTING', error: null });
    expect([hasBegun, absent, service.stored.length]).toEqual([true, 0, 2]);
  });

  it('creates a row once although its response is lost and the list shows its envelope later than others', async () => {
    const { service } = runs;
    service.behavior = {
      create: (number) => {
        service.behavior.lagMs = number === 1 ? 20_000 : 0;
        return number === 1 ? 'lose' : undefined;
      },
    };
    const { ending } = await runs.work(await runs.begin(3, 'two-step', { requestIds: true }));
    expect(ending).toEqual({ kind: 'finished' });
    expect([service.counts.creates, service.statuses(), service.mails.size]).toEqual([3, { SENT: 3 }, 3]);
  });

  it('is refused for other content that only the service knows, even if the list shows it late', async () => {
    const { service } = runs;
    const listedFrom = service.clock.now() + 20_000;
    service.put({ templateId: 'tmpl_9', metadata: { esignRequestId: 'own-1' }, status: 'SENT', listedFrom });
    service.behavior = { lagMs: 25_000 };
    const { results } = await runs.work(await runs.begin(3, 'two-step', { requestIds: true }));
    expect(codesOf(results)[0]).toBe('REQUEST_ID_USED');
    expect(service.mails).toEqual(
      new Map([
        ['env_1', 1],
        ['2', 1],
        ['3', 1],
      ]),
    );
    expect(service.stored.filter(({ status }) => status === 'DRAFT')).toEqual([]);
  });

  it.each([
    ['CANCELLED', null],
    ['DECLINED', '2026-01-02T03:04:05Z'],
  ])('is refused if its envelope is %s (sent: %s)', async (status, sentAt) => {
    runs.service.put({ metadata: { esignRequestId: 'own-1' }, status, sentAt });
    const { results } = await runs.work(await runs.begin(2, 'two-step', { requestIds: true }));
    expect(codesOf(results)).toEqual(['INVALID_STATE', undefined]);
    expect(results[0]?.error?.message).toContain('env_1');
    expect([runs.service.counts.creates, runs.service.mails]).toEqual([1, new Map([['2', 1]])]);
  });

  it('can be reused after the service refused its row', async () => {
    runs.service.behavior = {
      create: (number) => (number === 1 ? { status: 422, code: 'VALIDATION_ERROR' } : undefined),
    };
    const { results } = await runs.work(await runs.begin(2, 'two-step', { requestIds: true }));
    expect(codesOf(results)).toEqual(['VALIDATION_ERROR', undefined]);
    runs.service.behavior = {};
    const { client, memory } = connected();
    const body = createBody({ templateId: 'tmpl_2', signers: contentOfRow(1).signers, send: true }, 'own-1');
    expect(await createEnvelope(client, body, { memory, rerun: true })).toMatchObject({ by: 'reply' });
  });
});
