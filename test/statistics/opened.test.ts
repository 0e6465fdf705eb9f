import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { turnsOf } from '../../src/envelopes/turns.ts';
import { DayJournal } from '../../src/journal/day-journal.ts';
import { isOpened, readWebhooks } from '../../src/statistics/late.ts';
import { EVENTS_FORMAT, type EventRecord } from '../../src/webhooks/journal/record.ts';
import { fakeClock } from '../support/clock.ts';
import { eventRecord, payload } from '../support/webhooks.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const SENT = NOW - 2 * DAY;
const HOOK = 'https://hooks.example/esign';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-opened-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A webhook in the journal: `at` is its own time, or null if the payload lacks one. */
interface Received extends Partial<EventRecord> {
  at?: number | null;
  received?: number;
}

async function journal(...webhooks: Received[]): Promise<void> {
  const clock = fakeClock();
  const writing = new DayJournal(folder, EVENTS_FORMAT, clock);
  for (const [index, { at = SENT, received = at ?? SENT, ...more }] of webhooks.entries()) {
    clock.time = received;
    const event = more.event ?? 'envelope.viewed';
    const timestamp = at === null ? '' : new Date(at).toISOString();
    const body = payload('env_1', event).replace(/(?<="timestamp":")[^"]*/, timestamp);
    await writing.append(eventRecord(`dlv_${index}`, received, body, { ...more, event }));
  }
  await writing.close();
}

/** Records that a listener received everything in these spans. */
async function listened(...spans: { from: number; until: number; url?: string }[]): Promise<void> {
  await mkdir(join(folder, 'coverage'), { recursive: true });
  const all = spans.map((span) => ({ url: HOOK, open: false, ...span }));
  await writeFile(join(folder, 'coverage', 'a.json'), JSON.stringify({ coverage: 1, spans: all }));
}
const EVERYTHING = { from: NOW - 30 * DAY, until: NOW };

const ada = { email: 'ada@b.example' };
const bo = { email: 'bo@b.example' };
const envelope = (more: Partial<Envelope> = {}): Envelope => ({
  ...{
    id: 'env_1',
    status: 'SENT',
    webhookUrl: HOOK,
    sentAt: new Date(SENT).toISOString(),
    signers: [ada, bo],
  },
  ...more,
});

/** Whether each open turn was opened. */
async function opened(envelopes: Envelope[] = [envelope()], machineNow = NOW): Promise<(boolean | null)[]> {
  const turns = envelopes.flatMap((one) =>
    turnsOf(one).flatMap((turn) => (turn.state === 'open' ? [{ envelope: one, turn }] : [])),
  );
  const webhooks = await readWebhooks(folder, turns, { serviceNow: NOW, machineNow });
  return turns.map((turn) => isOpened(turn, webhooks));
}
const asSent: Received = { event: 'envelope.sent' };
const viewed = { event: 'envelope.viewed', at: SENT + MINUTE, signer: ada.email };

describe('a turn was opened', () => {
  it.each<[string, Received]>([
    ['a view of the signer', viewed],
    ['a view at the moment when it began', { ...viewed, at: SENT }],
    ['an address in other letters', { ...viewed, signer: 'ADA@b.example' }],
    ['the time of receipt, if the payload has none', { ...viewed, at: null, received: SENT }],
  ])('according to %s, but not that of another signer', async (_, webhook) => {
    await journal(webhook);
    expect(await opened()).toEqual([true, null]);
  });

  it('according to a view without an address, if there is only one signer', async () => {
    await journal({ ...viewed, signer: null });
    expect(await opened()).toEqual([null, null]);
    expect(await opened([envelope({ signers: [ada] })])).toEqual([true]);
  });

  it('according to webhooks from before a clock was corrected', async () => {
    await journal({ ...viewed, received: SENT - 60 * MINUTE });
    expect(await opened()).toEqual([true, null]);
  });

  it('for the earliest of several turns', async () => {
    const early = envelope({ sentAt: new Date(SENT - 10 * DAY).toISOString(), signers: [ada] });
    await journal({ ...viewed, at: SENT - 9 * DAY });
    expect(await opened([envelope({ id: 'env_2', signers: [bo] }), early])).toEqual([null, true]);
  });
});

describe('a turn was not opened', () => {
  it.each<[string, Received[]]>([
    ['without a view', [asSent]],
    ['if only another signer has', [asSent, { ...viewed, signer: bo.email }]],
    ['if the view is older than the turn', [asSent, { ...viewed, at: SENT - 1 }]],
    ['if the turn began with a signature', [{ event: 'envelope.signed' }]],
    ['if the webhook came five minutes late', [{ ...asSent, received: SENT + 5 * MINUTE }]],
    ['if its time is five minutes off', [{ ...asSent, at: SENT + 5 * MINUTE }]],
    ['if webhooks are about other envelopes', [asSent, { ...viewed, envelopeId: 'env_2' }]],
    ['if a webhook names no envelope', [asSent, { ...viewed, envelopeId: null }]],
  ])('%s, and a listener has received everything', async (_, webhooks) => {
    await listened(EVERYTHING);
    await journal(...webhooks);
    expect((await opened())[0]).toBe(false);
  });

  it("if the listener's clock is days behind the service's", async () => {
    const behind = 2 * DAY;
    await listened({ from: SENT - behind - DAY, until: NOW - behind });
    await journal({ ...asSent, received: SENT - behind });
    expect(await opened(undefined, NOW - behind)).toEqual([false, false]);
  });
});

describe('it is not known whether a turn was opened', () => {
  it.each<[string, Received[]]>([
    ['without the webhook about its beginning', []],
    ['if that webhook came late', [{ ...asSent, received: SENT + 5 * MINUTE + 1 }]],
    ['if it is about an earlier time', [{ ...asSent, at: SENT - 5 * MINUTE - 1 }]],
    ['if it is about a later time', [{ ...asSent, at: SENT + 5 * MINUTE + 1 }]],
    ['if it is not verified', [{ ...asSent, verified: false }]],
    ['if it was refused', [{ ...asSent, reason: 'expired' }]],
    ['if it is about another event', [{ event: 'envelope.reminded' }]],
    ['if a view is not verified', [asSent, { ...viewed, verified: false }]],
    ['if a view names no signer', [asSent, { ...viewed, signer: null }]],
  ])('%s', async (_, webhooks) => {
    await listened(EVERYTHING);
    await journal(...webhooks);
    expect((await opened())[0]).toBe(null);
  });

  it.each<[string, Parameters<typeof listened>]>([
    ['never ran', []],
    ['ran at another address', [{ ...EVERYTHING, url: 'https://other.example/' }]],
    ['stopped too early', [{ from: NOW - 30 * DAY, until: NOW - 1 }]],
    ['began too late', [{ from: SENT + 1, until: NOW }]],
  ])('if the listener %s', async (_, spans) => {
    await listened(...spans);
    await journal(asSent);
    expect(await opened()).toEqual([null, null]);
  });

  it('if the signers share an address, or the envelope has no webhook address', async () => {
    await listened(EVERYTHING);
    await journal(asSent, viewed);
    expect(await opened([envelope({ signers: [ada, ada] })])).toEqual([null, null]);
    expect(await opened([envelope({ webhookUrl: null, signers: [bo] })])).toEqual([null]);
  });

  it('if the journal is damaged', async () => {
    await listened(EVERYTHING);
    await journal(asSent);
    const names = await readdir(folder, { recursive: true });
    const path = join(folder, names.find((name) => name.endsWith('.jsonl')) ?? '');
    const [, sent = ''] = (await readFile(path, 'utf8')).split('\n');
    await appendFile(path, `damaged\n${sent}\n`);
    expect(await opened()).toEqual([null, null]);
  });
});
