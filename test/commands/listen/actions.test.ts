import { beforeEach, describe, expect, it } from 'vitest';
import { DeliveryActions } from '../../../src/commands/listen/actions.ts';
import type { Delivery } from '../../../src/webhooks/receive/delivery.ts';
import { NO_PAYLOAD, readPayload } from '../../../src/webhooks/receive/payload.ts';
import { payload } from '../../support/webhooks.ts';

/** Not read, because a few deliveries fit into memory. */
const place = { path: '', start: 0, end: 0 };
let attempts: string[] = [];
let warnings: string[] = [];
/** How many of the next downloads fail. */
let failing = 0;
beforeEach(() => {
  [attempts, warnings, failing] = [[], [], 0];
});

function actions(): DeliveryActions {
  const download = async (envelopeId: string) => {
    attempts.push(envelopeId);
    if (failing-- > 0) throw new Error('no bucket');
  };
  return new DeliveryActions({
    exec: undefined,
    dir: 'docs',
    download,
    warn: (message) => void warnings.push(message),
  });
}

function delivery(envelopeId: string, event = 'completed', more: Partial<Delivery> = {}): Delivery {
  const raw = Buffer.from(payload(envelopeId, `envelope.${event}`));
  return {
    ...(readPayload(raw) ?? NO_PAYLOAD),
    deliveryId: 'dlv_1',
    receivedAt: '',
    raw,
    bytes: raw.byteLength,
    verified: true,
    duplicate: false,
    reason: null,
    answer: 200,
    headers: [],
    ...more,
  };
}

describe('downloads of a listener', () => {
  it('happen once for each verified completed envelope', async () => {
    const listener = actions();
    listener.take(delivery('env_1'), place);
    listener.take(delivery('env_1', 'completed', { duplicate: true }), place);
    listener.take(delivery('env_2', 'completed', { verified: false }), place);
    listener.take(delivery('env_3', 'viewed'), place);
    await listener.download('env_1');
    await listener.end();
    expect([attempts, warnings]).toEqual([['env_1'], []]);
  });

  it('are tried again at the end after a failure, and fail if they fail again', async () => {
    failing = 2;
    const listener = actions();
    listener.take(delivery('env_1'), place);
    await expect(listener.download('env_1')).rejects.toThrow('no bucket');
    await listener.end();
    expect(warnings).toEqual([
      'no bucket',
      expect.stringContaining('esign envelopes download env_1 --dir docs'),
    ]);
    await listener.download('env_1');
    await listener.end();
    expect([attempts.length, warnings.length]).toEqual([3, 2]);
  });

  it('resume those of an earlier listener, each once, and continue after a failure', async () => {
    failing = 1;
    const listener = actions();
    listener.resume(() => Promise.resolve(['env_1', 'env_2']));
    await listener.done();
    listener.take(delivery('env_2'), place);
    await listener.end();
    expect([attempts, warnings.length]).toEqual([['env_1', 'env_2'], 2]);
    listener.resume(() => Promise.reject(new Error('no list')));
    await listener.done();
    expect(warnings.at(-1)).toBe('no list');
  });

  it('resume those of an earlier listener after a new delivery, and stop at the end', async () => {
    const listener = actions();
    listener.resume(() => Promise.resolve(['env_1', 'env_2', 'env_3']));
    await Promise.resolve();
    listener.take(delivery('env_4'), place);
    await listener.end();
    expect(attempts).toEqual(['env_1', 'env_4']);
    expect(warnings.map((text) => /download (\S+)/.exec(text)?.[1])).toEqual(['env_2', 'env_3']);
  });

  it.each([
    ['another event', delivery('env_1', 'signed')],
    ['a repeated delivery', delivery('env_1', 'completed', { duplicate: true })],
  ])('are tried again with %s of the envelope', async (_, next) => {
    failing = 1;
    const listener = actions();
    for (const one of [delivery('env_1'), delivery('env_2', 'viewed'), next]) listener.take(one, place);
    await listener.end();
    expect([attempts, warnings]).toEqual([['env_1', 'env_1'], ['no bucket']]);
  });
});
