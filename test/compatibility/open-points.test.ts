import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SeenWebhook } from '../../src/compatibility/recorder.ts';
import { parseJson } from '../../src/kernel/json.ts';
import { OPEN_POINTS, type OpenPoint } from '../../src/kernel/open-points.ts';
import { envelope, HEADERS, Notes, page, signer, template } from './rig.ts';

type Step = (notes: Notes) => void;

let notes: Notes;
let now = 0;
beforeEach(() => {
  notes = new Notes(() => now);
});
afterEach(() => notes.close());

const ONE = 'GET /esign/envelopes/env_1';
const ACTION = (name: string) => `POST /esign/envelopes/env_1/${name}`;
const CREATE = 'POST /esign/envelopes';
const DAY = 24 * 3_600_000;
const created = Date.parse('2026-03-01T09:30:00Z');
const iso = (ms: number) => new Date(ms).toISOString();
const refused = (code: string, details = {}) => ({ error: { code, message: 'x', details } });
const one = (more: Record<string, unknown>) => (seen: Notes) => seen.reply(ONE, { data: envelope(more) });
const list = (...items: Record<string, unknown>[]) =>
  ((seen) => seen.reply('GET /esign/envelopes', page(items.map(envelope)))) satisfies Step;
const create = (body: Record<string, unknown>, reply: unknown, status: number) =>
  ((seen) => seen.reply(CREATE, reply, { status }, { body })) satisfies Step;
const after = (status: string, action: string, reply: unknown, code = 200) =>
  ((seen) => {
    seen.reply(ONE, { data: envelope({ status }) });
    seen.reply(ACTION(action), reply, { status: code });
  }) satisfies Step;

function webhook(event: string, data: Record<string, unknown>, more: Partial<SeenWebhook> = {}): SeenWebhook {
  const status = typeof data.status === 'string' ? data.status : null;
  return {
    verified: true,
    duplicate: false,
    body: { event, timestamp: iso(created), data: { envelopeId: 'env_1', ...data } },
    ...{ event, envelopeId: 'env_1', status },
    headers: [['X-Service-Signature', 'ab'.repeat(32)]],
    ...more,
  };
}
const heard = (...webhooks: SeenWebhook[]) =>
  ((seen) => {
    for (const each of webhooks) seen.recorder.seeWebhook(each);
  }) satisfies Step;
const signed = (status: string) => webhook('envelope.signed', { status, signer: { id: 'signer_1' } });
const viewed = webhook('envelope.viewed', { status: 'SENT', signer: { id: 'signer_1' } });
const completed = webhook('envelope.completed', { status: 'COMPLETED' });

const early = { createdAt: iso(created), id: 'env_1' };
const late = { createdAt: iso(created + 1_000), id: 'env_2' };
const two = [signer({ order: 1, status: 'SENT' }), signer({ order: 2, status: 'PENDING' })];
const item = { message: undefined, metadata: undefined, signers: undefined, webhookUrl: undefined };
const bare = parseJson(JSON.stringify(envelope(item)));

const SEEN: readonly (readonly [point: string, value: string, step: Step])[] = [
  ['list-items', 'full', list(early)],
  ['list-items', 'summary', (seen) => seen.reply('GET /esign/envelopes', page([bare]))],
  ['list-order', 'desc', list(late, early)],
  ['list-order', 'asc', list(early, late)],
  ['action-reply', 'envelope', after('DRAFT', 'send', { data: envelope() })],
  ['action-reply', 'success', after('DRAFT', 'send', { data: { success: true } })],
  ['action-reply', 'empty204', after('DRAFT', 'send', undefined, 204)],
  [
    'bad-paging',
    'error',
    (seen) => seen.reply('GET /esign/envelopes?page=0', refused('VALIDATION_ERROR'), { status: 400 }),
  ],
  ['bad-paging', 'clamp', (seen) => seen.reply('GET /esign/envelopes?pageSize=500', page([]))],
  ['unknown-fields', 'validation-error', create({ x: 1 }, refused('VALIDATION_ERROR', { x: ['no'] }), 400)],
  ['unknown-route', 'not-found', (seen) => seen.reply('GET /x', refused('NOT_FOUND'), { status: 404 })],
  [
    'retry-after',
    'on',
    (seen) =>
      seen.reply(ONE, refused('RATE_LIMITED'), { status: 429, headers: { ...HEADERS, 'retry-after': '9' } }),
  ],
  ['retry-after', 'off', (seen) => seen.reply(ONE, refused('RATE_LIMITED'), { status: 429 })],
  ['reset-header', 'seconds', one({})],
  [
    'reset-header',
    'milliseconds',
    (seen) =>
      seen.reply(
        ONE,
        { data: envelope() },
        { headers: { ...HEADERS, 'x-ratelimit-reset': '1772359800000' } },
      ),
  ],
  ['byob', 'on', one({})],
  ['template-roles', 'hidden', (seen) => seen.reply('GET /esign/templates/tmpl_1', { data: template() })],
  [
    'template-roles',
    'shown',
    (seen) => seen.reply('GET /esign/templates/tmpl_1', { data: template({ roles: [] }) }),
  ],
  ['signer-statuses', 'known', one({ signers: two })],
  ['signer-statuses', 'unknown', one({ signers: [signer({ status: 'DELIVERED' })] })],
  ['sequential-order', 'lowest-first', one({ signingOrder: 'SEQUENTIAL', signers: two })],
  [
    'default-signing-order',
    'sequential',
    create({}, { data: envelope({ signingOrder: 'SEQUENTIAL' }) }, 201),
  ],
  ['default-signing-order', 'parallel', create({}, { data: envelope() }, 201)],
  ['viewed', 'every', heard(viewed, viewed)],
  ['last-signed', 'in-progress', heard(signed('IN_PROGRESS'), completed)],
  ['last-signed', 'completed', heard(signed('COMPLETED'), completed)],
  ['decline', 'ends-envelope', one({ status: 'DECLINED', signers: [signer({ declinedAt: iso(created) })] })],
  ['cancel', 'literal', after('DRAFT', 'cancel', { data: envelope() })],
  ['cancel', 'strict', after('DRAFT', 'cancel', refused('INVALID_STATE'), 400)],
  ['remind', 'active-only', after('COMPLETED', 'remind', refused('INVALID_STATE'), 400)],
  ['expiry-from', 'creation', one({ sentAt: iso(created + 3_600_000), expiresAt: iso(created + 30 * DAY) })],
  [
    'expiry-from',
    'sending',
    one({ sentAt: iso(created + 3_600_000), expiresAt: iso(created + 3_600_000 + 30 * DAY) }),
  ],
  [
    'draft-expiry',
    'never',
    (seen) =>
      seen.reply(
        ONE,
        { data: envelope({ status: 'DRAFT', sentAt: null }) },
        { headers: { ...HEADERS, date: new Date(created + 90 * DAY).toUTCString() } },
      ),
  ],
  [
    'longest-expiry',
    '365-days',
    create({ expiresInDays: 366 }, refused('VALIDATION_ERROR', { expiresInDays: ['no'] }), 400),
  ],
  ['payload', 'event', heard(viewed)],
  [
    'payload',
    'type',
    heard({ ...viewed, body: { id: 'evt_1', type: 'envelope.viewed', createdAt: iso(created), data: {} } }),
  ],
  ['signature', 'bare', heard(viewed)],
  [
    'signature',
    'prefixed',
    heard({ ...viewed, headers: [['x-service-signature', `sha256=${'ab'.repeat(32)}`]] }),
  ],
  [
    'finalisation',
    'at-once',
    one({ status: 'COMPLETED', completedAt: iso(created), signers: [signer({ signedAt: iso(created) })] }),
  ],
  ['finalisation', 'delayed', one({ status: 'IN_PROGRESS', signers: [signer({ signedAt: iso(created) })] })],
];

describe('an open point', () => {
  it.each(SEEN)('observes %s as %s', async (point, value, step) => {
    step(notes);
    expect((await notes.choices())[point]).toBe(value);
  });

  it('shows whether a rate window is fixed or slides', async () => {
    for (const [step, expected] of [
      [0, 'fixed'],
      [5, 'sliding'],
    ] as const) {
      const seen = new Notes(() => now);
      now = created;
      for (let reply = 0; reply < 2; reply++, now += 5_000)
        seen.reply(
          ONE,
          { data: envelope() },
          { headers: { ...HEADERS, 'x-ratelimit-reset': String(created / 1_000 + 900 + reply * step) } },
        );
      const { openPoints } = await seen.report();
      expect(openPoints.find(({ what }) => what.startsWith('rate-window'))?.seen).toEqual([expected]);
      await seen.close();
    }
  });

  it('shows the properties of each event', async () => {
    heard(viewed)(notes);
    const { openPoints } = await notes.report();
    expect(openPoints.find(({ what }) => what.startsWith('event-data'))?.seen).toEqual([
      'envelope.viewed: envelopeId, signer, status',
    ]);
  });

  it('contradicts the document where that shows a form for envelope.signed', async () => {
    const { body: _body, ...rest } = signed('IN_PROGRESS');
    heard({ ...rest, body: { id: 'evt_1', type: 'envelope.signed', createdAt: iso(created), data: {} } })(
      notes,
    );
    const { contradictions } = await notes.report();
    expect(contradictions.some(({ where }) => where.includes('envelope.signed'))).toBe(true);
  });

  it('has an observer or a reason', () => {
    const observed = new Set([...SEEN.map(([point]) => point), 'rate-window', 'event-data']);
    const explained = Object.entries<OpenPoint>(OPEN_POINTS).flatMap(([name, { unobservable }]) =>
      unobservable ? [name] : [],
    );
    expect([...observed, ...explained].sort()).toEqual(Object.keys(OPEN_POINTS).sort());
  });
});
