import { expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { timelineOf } from '../../src/evidence/timeline.ts';

const at = (hour: number) => `2026-03-01T${String(hour).padStart(2, '0')}:00:00.000Z`;
const webhook = {
  receivedAt: at(20),
  happenedAt: at(3),
  event: 'envelope.viewed',
  signer: 'ada@b.example',
  verified: true,
  duplicate: false,
};
const shown = (...args: Parameters<typeof timelineOf>) =>
  timelineOf(...args).map((one) => [one.at, one.what, one.who, one.source, one.verified]);

it('shows the events of all sources in order of time, each with its source', () => {
  const envelope: Envelope = {
    id: 'env_1',
    status: 'DECLINED',
    createdAt: at(1),
    sentAt: at(2),
    completedAt: null,
    // It would have expired, but was declined first.
    expiresAt: at(9),
    signers: [
      { email: 'ada@b.example', name: 'Ada', signedAt: at(5) },
      { name: 'Bo', declinedAt: at(7), declineReason: 'too dear' },
      { declinedAt: at(8) },
    ],
  };
  const webhooks = [webhook, { ...webhook, verified: false, event: 'envelope.signed', happenedAt: at(6) }];
  const reminders = [
    { at: at(4), signer: 'bo@b.example' },
    { at: at(3), signer: null },
  ];
  expect(shown(envelope, webhooks, reminders)).toEqual([
    [at(1), 'created', null, 'service', null],
    [at(2), 'sent', null, 'service', null],
    [at(3), 'viewed', 'ada@b.example', 'webhook', true],
    [at(3), expect.anything(), "everyone who hadn't signed", 'here', null],
    [at(4), expect.anything(), 'bo@b.example', 'here', null],
    [at(5), 'signed', 'ada@b.example', 'service', null],
    [at(6), 'signed', 'ada@b.example', 'webhook', false],
    [at(7), 'declined: too dear', 'Bo', 'service', null],
    [at(8), 'declined', null, 'service', null],
  ]);
});

it.each([
  ['COMPLETED', 'completed', at(8)],
  ['EXPIRED', 'expired', at(9)],
])('ends with %s', (status, what, time) => {
  const completedAt = status === 'COMPLETED' ? at(8) : null;
  const envelope = { id: 'env_1', status, createdAt: '', sentAt: 'soon', completedAt, expiresAt: at(9) };
  expect(shown(envelope, [], [])).toEqual([[time, what, null, 'service', null]]);
});

it('shows a webhook once, at the time of receipt if its own time is missing or invalid', () => {
  const webhooks = [
    webhook,
    { ...webhook, duplicate: true, receivedAt: at(22) },
    { ...webhook, happenedAt: null, receivedAt: at(21) },
    { ...webhook, happenedAt: 'yesterday', event: null },
    { ...webhook, happenedAt: at(19), event: 'other.envelope.viewed' },
  ];
  expect(shown({ id: 'env_1' }, webhooks, []).map(([time, what]) => [time, what])).toEqual([
    [at(3), 'viewed'],
    [at(19), 'other.envelope.viewed'],
    [at(20), expect.anything()],
    [at(21), 'viewed'],
  ]);
});
