import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../../src/api/schemas.ts';
import { DayJournal } from '../../../src/journal/day-journal.ts';
import { NetworkError, ServiceError } from '../../../src/kernel/errors.ts';
import { findGaps } from '../../../src/webhooks/journal/gaps.ts';
import { EVENTS_FORMAT } from '../../../src/webhooks/journal/record.ts';
import { sampleEnvelopeId } from '../../../src/webhooks/sample.ts';
import { fakeClock } from '../../support/clock.ts';

const HOUR = 3_600_000;
const clock = fakeClock();
const now = clock.now();
const ago = (hours: number) => new Date(now - hours * HOUR).toISOString();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-gaps-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

let count = 0;
/** An accepted event in the journal. */
async function journal(...events: { event: string; envelopeId: string; signer?: string; hours?: number }[]) {
  const writing = new DayJournal(folder, EVENTS_FORMAT, clock);
  for (const { event, envelopeId, signer = null, hours = 1 } of events) {
    count++;
    await writing.append({
      ...{
        deliveryId: `dlv_${count}`,
        id: `evt_${count}`,
        receivedAt: ago(hours),
        event,
        envelopeId,
        signer,
      },
      status: null,
      verified: true,
      duplicate: false,
      reason: null,
      answer: 200,
      headers: [],
      bodyBase64: '',
      bytes: 0,
    });
  }
  await writing.close();
}

const NOT_FOUND = new ServiceError('NOT_FOUND', 'no such envelope', { status: 404 });

/** The gaps as short texts, with a service that lists these. */
async function gaps(listed: Envelope[], options: { get?: Envelope[]; failure?: Error; since?: number } = {}) {
  const gets: string[] = [];
  const list = async function* () {
    yield* listed;
    await Promise.resolve();
  };
  const get = (id: string) => {
    gets.push(id);
    const found = (options.get ?? []).find((one) => one.id === id);
    return found === undefined ? Promise.reject(options.failure ?? NOT_FOUND) : Promise.resolve(found);
  };
  const query = { since: now - (options.since ?? 24) * HOUR, now, graceMs: 60_000 };
  const found = await findGaps({ list, get }, folder, query);
  const words = found.gaps.map(({ kind, event, envelopeId, signer }) =>
    [kind, envelopeId, event.replace('envelope.', ''), ...(signer === null ? [] : [signer])].join(' '),
  );
  return { words, gets, ...found };
}

const envelope = (more: Partial<Envelope> = {}): Envelope => ({
  id: 'env_1',
  status: 'IN_PROGRESS',
  webhookUrl: 'https://hooks.example/',
  createdAt: ago(3),
  sentAt: ago(3),
  signers: [
    { email: 'ada@x.y', signedAt: ago(2) },
    { email: 'bo@x.y', signedAt: ago(1) },
    { email: 'cy@x.y', signedAt: null },
  ],
  ...more,
});
const accepted = (event: string, signer?: string) => ({
  event: `envelope.${event}`,
  envelopeId: 'env_1',
  ...(signer === undefined ? {} : { signer }),
});

describe('gaps between the journal and the API', () => {
  it('are found signer by signer, in any case; an event without a signer counts for one of them', async () => {
    await journal(accepted('sent'), accepted('signed', 'BO@x.y'));
    expect((await gaps([envelope()])).words).toEqual(['missing env_1 signed ada@x.y']);
    await journal(accepted('signed'));
    expect((await gaps([envelope()])).words).toEqual([]);
  });

  it('are not reported before the start time, within the grace period, without a webhook, or in a draft', async () => {
    expect((await gaps([envelope()], { since: 1.5 })).words).toEqual(['missing env_1 signed bo@x.y']);
    expect((await gaps([envelope({ webhookUrl: null })])).words).toEqual([]);
    expect((await gaps([envelope({ status: 'DRAFT', sentAt: null })])).words).toEqual([]);
    const fresh = envelope({ status: 'SENT', sentAt: ago(0.01), signers: [] });
    expect((await gaps([fresh])).words).toEqual([]);
  });

  it('are reported for a cancellation only if this machine could have received it', async () => {
    const old = envelope({ status: 'CANCELLED', createdAt: ago(90), sentAt: ago(80), signers: [{}] });
    expect((await gaps([old])).words).toEqual([]);
    await journal({ event: 'envelope.sent', envelopeId: 'env_1', hours: 80 });
    expect((await gaps([old])).words).toEqual(['missing env_1 cancelled']);
    await journal({ event: 'envelope.cancelled', envelopeId: 'env_1', hours: 70 });
    expect((await gaps([old])).words).toEqual([]);
  });

  it.each([
    ['completed', undefined, { status: 'IN_PROGRESS' }, ['contradicted env_1 completed']],
    ['signed', 'cy@x.y', {}, ['contradicted env_1 signed cy@x.y']],
    ['viewed', 'eve@x.y', {}, ['contradicted env_1 viewed eve@x.y']],
    ['viewed', 'cy@x.y', {}, []],
    ['cancelled', undefined, { status: 'PAUSED' }, []],
    ['declined', undefined, { status: 'CANCELLED' }, []],
    ['sent', undefined, { status: 'DRAFT', sentAt: null }, ['contradicted env_1 sent']],
  ])('include contradictory events: %s of %s if the API has %j', async (event, signer, more, expected) => {
    await journal(accepted('sent'), accepted('signed', 'ada@x.y'), accepted('signed', 'bo@x.y'));
    await journal(accepted(event, signer));
    const { words } = await gaps([envelope(more)]);
    expect([...new Set(words.filter((one) => one.includes(event)))]).toEqual(expected);
  });

  it('are found with requests for fields that the list omits, only if something may have changed', async () => {
    const lean = (id: string, more: Partial<Envelope>): Envelope => ({ id, ...more });
    const { gets, words, checked } = await gaps(
      [
        lean('env_1', { status: 'IN_PROGRESS', sentAt: ago(3) }),
        lean('env_2', { status: 'COMPLETED', completedAt: ago(30) }),
        lean('env_3', { status: 'DRAFT' }),
      ],
      { get: [envelope()] },
    );
    expect([gets, checked]).toEqual([['env_1'], 1]);
    expect(words).toHaveLength(3);
  });

  it.each([[undefined], [null], [[]]])(
    'are not found for signers that the API shows as %j',
    async (signers) => {
      await journal(accepted('sent'), accepted('signed', 'ada@x.y'));
      const hidden = { ...envelope(), signers };
      const { gets, words } = await gaps([hidden], { get: [hidden] });
      expect([gets, words]).toEqual([['env_1'], []]);
    },
  );

  it('distinguish a missing envelope from an unreachable service', async () => {
    await journal({ event: 'envelope.sent', envelopeId: 'env_9' });
    expect((await gaps([])).words).toEqual(['unknown env_9 sent']);
    const away = new NetworkError('NETWORK', 'away', { maybeReceived: false });
    await expect(gaps([], { failure: away })).rejects.toBe(away);
  });

  it('exclude events of a drill or a trigger', async () => {
    const madeUp = [sampleEnvelopeId('drill'), sampleEnvelopeId('trigger')];
    await journal(...madeUp.map((envelopeId) => ({ event: 'envelope.completed', envelopeId })));
    const { words, gets } = await gaps([]);
    expect([words, gets]).toEqual([[], []]);
  });
});
