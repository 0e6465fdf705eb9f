import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openReminderLog } from '../../src/envelopes/reminders.ts';
import { loggedWrites, receivedWebhooks, sentReminders } from '../../src/evidence/sources.ts';
import { DayJournal } from '../../src/journal/day-journal.ts';
import { createRedactor } from '../../src/kernel/redaction.ts';
import type { BeginRecord } from '../../src/log/entry.ts';
import { logFolder } from '../../src/log/files.ts';
import { WriteLog } from '../../src/log/write-log.ts';
import { EVENTS_FORMAT, type EventRecord } from '../../src/webhooks/journal/record.ts';
import { fakeClock } from '../support/clock.ts';
import { eventRecord, payload } from '../support/webhooks.ts';

const SECRET = 'whsec_0123456789';
const BASE_URL = 'https://api.example.com/api/v1';

let state: string;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'esign-sources-'));
});
afterEach(() => rm(state, { recursive: true, force: true }));

async function received(...webhooks: (Partial<EventRecord> & { body?: string | Buffer })[]) {
  const clock = fakeClock();
  const writing = new DayJournal(join(state, 'events'), EVENTS_FORMAT, clock);
  for (const [index, { body, ...more }] of webhooks.entries()) {
    clock.time += 1_000;
    await writing.append(eventRecord(`dlv_${index}`, clock.time, body, more));
  }
  await writing.close();
  return receivedWebhooks(state, 'env_1', createRedactor([SECRET]));
}

describe('the webhooks of the evidence', () => {
  it('are the accepted ones for the envelope, oldest first and byte for byte', async () => {
    const body = ` ${payload('env_1', 'envelope.signed')}\n`;
    const headers: [string, string][] = [
      ['X-Service-Signature', 'ab'],
      ['Authorization', 'Basic abc'],
    ];
    const facts = { status: 'SENT', signer: 'ada@b.example', verified: false, duplicate: true };
    const webhooks = await received(
      { body, headers, event: 'envelope.signed', ...facts },
      { envelopeId: 'env_2' },
      { reason: 'expired' },
      {},
    );
    expect(webhooks.map(({ deliveryId }) => deliveryId)).toEqual(['dlv_0', 'dlv_3']);
    expect(webhooks[0]).toEqual({
      deliveryId: 'dlv_0',
      receivedAt: '2026-01-02T03:04:06.000Z',
      event: 'envelope.signed',
      happenedAt: '2026-01-02T03:04:05Z',
      ...facts,
      bytes: body.length,
      headers: [
        ['X-Service-Signature', 'ab'],
        ['Authorization', '[redacted]'],
      ],
      sha256: createHash('sha256').update(body).digest('hex'),
      bodyBase64: Buffer.from(body).toString('base64'),
      body: null,
    });
    expect(webhooks[1]).toMatchObject({ status: null, signer: null });
  });

  it.each<[string, string, unknown]>([
    ['JSON', payload('env_1', 'a', { key: SECRET }), { data: { envelopeId: 'env_1', key: '[redacted]' } }],
    [
      'JSON with escapes',
      payload('env_1', 'a', { key: SECRET }).replace('whsec_', String.raw`whsec\u005f`),
      { data: { key: '[redacted]' } },
    ],
    [
      'a field',
      payload('env_1', 'a', { webhookSecret: 1, password: 'x' }),
      { data: { webhookSecret: 1, password: '[redacted]' } },
    ],
    ['a repeated key', `{"key":"${SECRET}","key":"other"}`, { key: 'other' }],
    ['other text', `key=${SECRET}`, 'key=[redacted]'],
  ])('never contain a secret in %s', async (_, body, kept) => {
    const [webhook] = await received({ body });
    expect(webhook).toMatchObject({ body: kept, bodyBase64: null, bytes: body.length });
    expect(webhook?.sha256).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('never contain a secret next to the body', async () => {
    const data = { event: SECRET, status: SECRET, signer: SECRET };
    const timestamped = payload('env_1').replace('2026-01-02T03:04:05Z', SECRET);
    const [webhook] = await received({ body: timestamped, ...data, headers: [[SECRET, SECRET]] });
    expect(JSON.stringify(webhook)).not.toContain(SECRET);
    expect(webhook).toMatchObject({
      event: '[redacted]',
      happenedAt: '[redacted]',
      headers: [['[redacted]', '[redacted]']],
    });
  });

  it('are kept if they are not JSON', async () => {
    const [webhook] = await received({ body: Buffer.from([0xff, 0xfe]), event: null });
    expect(webhook).toMatchObject({
      event: null,
      happenedAt: null,
      body: null,
      bodyBase64: '//4=',
      bytes: 2,
    });
  });
});

describe('the reminders of the evidence', () => {
  it('are those of the envelope and the account, to one signer or to all', async () => {
    const clock = fakeClock(Date.UTC(2026, 2, 1));
    for (const account of [BASE_URL, 'https://other.example/api/v1']) {
      const log = await openReminderLog(state, account, clock, clock.now);
      await log.noting('env_1', 'Ada@b.example', () => Promise.resolve());
      clock.time += 1_000;
      await log.noting('env_1', undefined, () => Promise.resolve());
      await log.noting('env_2', undefined, () => Promise.resolve());
      await log.close();
    }
    expect(await sentReminders(state, BASE_URL, 'env_1')).toEqual([
      { at: '2026-03-01T00:00:00.000Z', signer: 'ada@b.example' },
      { at: '2026-03-01T00:00:01.000Z', signer: null },
    ]);
  });
});

describe('the writes of the evidence', () => {
  it('are those to the envelope at the same service, without other envelopes of a run', async () => {
    const log = new WriteLog(logFolder(state), fakeClock());
    const at = '2026-03-01T10:00:00.000Z';
    const begin = (more: Pick<BeginRecord, 'id' | 'envelopeIds'> & Partial<BeginRecord>): BeginRecord => ({
      at,
      user: 'ada',
      profile: 'acme',
      baseUrl: BASE_URL,
      requestId: 'req_1',
      type: 'begin',
      command: 'bulk create',
      effect: 'mails',
      action: 'send',
      ...more,
    });
    await log.append(begin({ id: 'a', envelopeIds: ['env_2', 'env_1'], run: 'run_1' }));
    await log.append({ type: 'end', id: 'a', outcome: 'refused', error: 'INVALID_STATE' });
    await log.append(begin({ id: 'b', envelopeIds: ['env_1'], profile: null, requestId: null }));
    await log.append(begin({ id: 'c', envelopeIds: ['env_2'] }));
    await log.append(begin({ id: 'd', envelopeIds: ['env_1'], baseUrl: 'https://other.example/api/v1' }));
    const same = { at, user: 'ada', command: 'bulk create', effect: 'mails' };
    expect(await loggedWrites(state, BASE_URL, 'env_1')).toEqual([
      {
        id: 'a',
        ...same,
        profile: 'acme',
        requestId: 'req_1',
        run: 'run_1',
        outcome: 'refused',
        error: 'INVALID_STATE',
      },
      { id: 'b', ...same, profile: null, requestId: null, outcome: 'unknown', error: null },
    ]);
  });
});
