import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBody } from '../../src/once/create-body.ts';
import { createOnce } from '../../src/once/create-envelope.ts';
import { envelopeOf, Runs, rowOf } from './rig.ts';

let runs: Runs;
beforeEach(async () => {
  runs = new Runs();
  await runs.open();
});
afterEach(async () => {
  await runs.close();
});

const withIds = { requestIds: true };
const codesOf = (results: readonly { error: { code: string } | null }[]) =>
  results.map(({ error }) => error?.code);
/** Sends a row as `envelopes create` does. */
function createRow(row: number, templateId = 'tmpl_1') {
  const { envelope, requestId } = rowOf(row, withIds);
  const body = createBody({ ...envelope, templateId, send: true }, requestId);
  return createOnce(runs.connected, body, { memory: runs.memory });
}

describe('a request ID in the file', () => {
  it.each([0, 40_000])(
    'is emailed once when `create` uses it at the same time, with a list that lags by %i ms',
    async (lagMs) => {
      const { service } = runs;
      service.behavior = { lagMs };
      const id = await runs.begin(6, 'two-step', withIds);
      const [{ ending }] = await Promise.all([runs.work(id), ...[2, 4, 6].map((row) => createRow(row))]);
      expect(ending).toEqual({ kind: 'finished' });
      expect([...service.mails].toSorted()).toEqual(
        [1, 2, 3, 4, 5, 6].map((row) => [`s${row}@example.com`, 1]),
      );
      expect(service.statuses()).toMatchObject({ SENT: 6 });
      expect(service.statuses().DRAFT).toBeUndefined();
    },
  );

  it('sends the draft of another command, which keeps its ID', async () => {
    const { service } = runs;
    service.put(envelopeOf(1, undefined, withIds));
    const { results } = await runs.work(await runs.begin(2, 'two-step', withIds));
    expect(results[0]).toMatchObject({ ok: true, status: 'SENT', envelopeId: 'env_1', requestId: 'own-1' });
    expect(service.statuses()).toEqual({ SENT: 2 });
  });

  it.each([
    ['CANCELLED', '2026-01-02T03:04:05Z'],
    ['DECLINED', '2026-01-02T03:04:05Z'],
    ['EXPIRED', '2026-01-02T03:04:05Z'],
  ])('is refused if its envelope is %s (sent: %s)', async (status, sentAt) => {
    runs.service.put({ ...envelopeOf(1, undefined, withIds), status, sentAt });
    const { results } = await runs.work(await runs.begin(2, 'two-step', withIds));
    expect(codesOf(results)).toEqual(['INVALID_STATE', undefined]);
    expect(results[0]?.error?.message).toContain('env_1');
    expect([runs.service.counts.creates, runs.service.mails]).toEqual([1, new Map([['s2@example.com', 1]])]);
  });

  it('can be used again if only a draft of it was canceled', async () => {
    runs.service.put({ ...envelopeOf(1, undefined, withIds), status: 'CANCELLED' });
    const { results } = await runs.work(await runs.begin(1, 'two-step', withIds));
    expect(results).toMatchObject([{ ok: true, status: 'SENT' }]);
  });

  it('can be used again after the service refused its row', async () => {
    runs.service.behavior = {
      create: (number) => (number === 1 ? { status: 422, code: 'VALIDATION_ERROR' } : undefined),
    };
    const id = await runs.begin(2, 'two-step', withIds);
    const { results } = await runs.work(id, { concurrency: 1 });
    expect(codesOf(results)).toEqual(['VALIDATION_ERROR', undefined]);
    runs.service.behavior = {};
    expect(await createRow(1, 'tmpl_2')).toMatchObject({ by: 'reply' });
  });
});
