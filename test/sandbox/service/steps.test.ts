import { describe, expect, it } from 'vitest';
import type { EnvelopeRecord, MailRecord } from '../../../src/sandbox/model.ts';
import { DEFAULT_RULES, type Rules } from '../../../src/sandbox/service/base/choices.ts';
import { ApiError } from '../../../src/sandbox/service/base/errors.ts';
import { draftEnvelope } from '../../../src/sandbox/service/engine/draft.ts';
import { completedEvent, payloadText } from '../../../src/sandbox/service/engine/events.ts';
import * as lifecycle from '../../../src/sandbox/service/engine/lifecycle.ts';
import { copyOf, outcomeOf } from '../../../src/sandbox/service/engine/outcome.ts';
import * as predicates from '../../../src/sandbox/service/engine/predicates.ts';
import { ada, bob, lease } from './rig.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (ms: number) => new Date(START + ms).toISOString();
const eve = { email: 'eve@example.com', name: 'Eve' };

type Body = Parameters<typeof draftEnvelope>[2];
function draft(more: Partial<Body> = {}, rules: Partial<Rules> = {}): EnvelopeRecord {
  let n = 0;
  const body = { templateId: lease.id, signers: [ada, bob, eve], ...more };
  return draftEnvelope('org_1', lease, body, START, {
    randomId: (_, kind) => `${kind ?? 'x'}${++n}`,
    rules: { ...DEFAULT_RULES, ...rules },
  });
}
const sent = (more: Partial<Body> = {}, rules: Partial<Rules> = {}) =>
  lifecycle.send(draft(more, rules), START, { ...DEFAULT_RULES, ...rules }).envelope;
const idOf = (envelope: EnvelopeRecord, n: number) => envelope.signers[n]?.id ?? '';
const signBy = (envelope: EnvelopeRecord, n: number, ms: number, rules: Rules = DEFAULT_RULES) =>
  lifecycle.sign(
    envelope,
    { signerId: idOf(envelope, n), values: { a: 'b' }, ip: '127.0.0.1', userAgent: 'x' },
    START + ms,
    rules,
  );
const statusesOf = ({ signers }: EnvelopeRecord) => signers.map(({ status }) => status);
const lastOf = ({ history }: EnvelopeRecord) => history.at(-1);
const mailedBy = (step: lifecycle.LifecycleStep) =>
  step.mails.map(({ kind, signerId }) => [
    kind,
    step.envelope.signers.findIndex(({ id }) => id === signerId),
  ]);
const codeOf = (work: () => unknown) => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof ApiError ? error.code : error;
  }
};

describe('a new envelope', () => {
  it('has the documented defaults', () => {
    const one = draft();
    expect(one).toMatchObject({
      id: 'env_env1',
      orgId: 'org_1',
      templateId: lease.id,
      templateName: 'Lease',
      status: 'DRAFT',
      subject: 'Please sign: Lease',
      message: '',
      metadata: {},
      webhookUrl: null,
      webhookSecret: null,
      createdAt: at(0),
      sentAt: null,
      completedAt: null,
      expiresAt: at(30 * DAY),
      documentStorageKey: `esign/envelopes/org_1/${one.id}/document.pdf`,
      signedDocumentStorageKey: null,
      certificateStorageKey: null,
      history: [{ at: at(0), what: 'created', signerId: null, detail: null }],
    });
    expect(one.signers.map(({ order, role, status }) => [order, role, status])).toEqual([
      [1, 'Tenant', 'PENDING'],
      [2, 'Landlord', 'PENDING'],
      [3, 'Landlord', 'PENDING'],
    ]);
    expect(one.signers[0]).toMatchObject({
      signedAt: null,
      declinedAt: null,
      declineReason: null,
      notifiedAt: null,
      viewedAt: null,
      consentAt: null,
      ip: null,
      userAgent: null,
      values: {},
    });
    expect(one.signers[0]?.id).toMatch(/^signer_signer\d$/);
    expect(one.signers[0]?.token).toMatch(/^link\d$/);
    expect(one.signers[0]?.signatureId).toMatch(/^X\d$/);
  });

  it('has the values of the request', () => {
    const body = {
      subject: 'Hello',
      message: 'Hi',
      metadata: { a: 1 },
      expiresInDays: 2,
      webhookUrl: 'https://example.com',
      webhookSecret: 's',
      signingOrder: 'PARALLEL' as const,
      signers: [{ ...ada, order: 5, role: 'Landlord' }, bob],
    };
    const one = draft(body);
    expect(one).toMatchObject({
      subject: 'Hello',
      message: 'Hi',
      metadata: { a: 1 },
      expiresAt: at(2 * DAY),
      webhookUrl: 'https://example.com',
      webhookSecret: 's',
      signingOrder: 'PARALLEL',
    });
    expect(one.signers.map(({ order, role }) => [order, role])).toEqual([
      [5, 'Landlord'],
      [2, 'Tenant'],
    ]);
  });

  it.each([
    ['sequential', 'SEQUENTIAL'],
    ['parallel', 'PARALLEL'],
  ] as const)('has the order that is chosen: %s', (chosen, order) => {
    expect(draft({}, { 'default-signing-order': chosen }).signingOrder).toBe(order);
  });

  it('is refused with a role that its template lacks', () => {
    const wrong = () => draft({ signers: [ada, { ...bob, role: 'Witness' }] });
    expect(wrong).toThrow(expect.objectContaining({ details: { 'signers.1.role': [expect.any(String)] } }));
  });
});

describe('sending', () => {
  it('notifies the first signer in order, or all of them', () => {
    const one = lifecycle.send(draft({ signingOrder: 'SEQUENTIAL' }), START + HOUR);
    expect(statusesOf(one.envelope)).toEqual(['SENT', 'PENDING', 'PENDING']);
    expect(one.envelope.signers.map(({ notifiedAt }) => notifiedAt)).toEqual([at(HOUR), null, null]);
    expect(mailedBy(one)).toEqual([['request', 0]]);
    expect(one.envelope.history.slice(1).map(({ what, signerId }) => [what, signerId])).toEqual([
      ['sent', null],
      ['notified', idOf(one.envelope, 0)],
    ]);
    const all = lifecycle.send(draft({ signingOrder: 'PARALLEL' }), START);
    expect(mailedBy(all)).toEqual([
      ['request', 0],
      ['request', 1],
      ['request', 2],
    ]);
    expect(all.events).toMatchObject([{ event: 'envelope.sent', data: { status: 'SENT' } }]);
  });

  it.each([
    ['creation', 30 * DAY],
    ['sending', 31 * DAY],
  ] as const)('counts the days to expiry from %s', (from, expiry) => {
    const rules: Rules = { ...DEFAULT_RULES, 'expiry-from': from };
    const { envelope } = lifecycle.send(draft(), START + DAY, rules);
    expect([envelope.sentAt, envelope.expiresAt]).toEqual([at(DAY), at(expiry)]);
  });
});

describe('viewing', () => {
  it('is an event once, or each time if chosen', () => {
    const envelope = sent();
    const first = lifecycle.view(envelope, idOf(envelope, 0), START + 1);
    expect(first.envelope.signers[0]).toMatchObject({ status: 'VIEWED', viewedAt: at(1) });
    expect(first.events[0]?.data).toMatchObject({ signer: { email: ada.email, viewedAt: at(1) } });
    expect(lastOf(first.envelope)).toMatchObject({ what: 'viewed', signerId: idOf(envelope, 0) });
    expect(lifecycle.view(first.envelope, idOf(envelope, 0), START + 2)).toEqual(
      lifecycle.unchanged(first.envelope),
    );
    const rules: Rules = { ...DEFAULT_RULES, viewed: 'every' };
    const again = lifecycle.view(first.envelope, idOf(envelope, 0), START + 2, rules);
    expect(again.envelope.signers[0]?.viewedAt).toBe(at(1));
    expect(again.events[0]?.data).toMatchObject({ signer: { viewedAt: at(2) } });
  });
});

describe('signing', () => {
  it('records the signature, and notifies the next signer', () => {
    const envelope = sent({ signingOrder: 'SEQUENTIAL' });
    const step = signBy(envelope, 0, 5);
    expect(step.envelope.signers[0]).toMatchObject({
      status: 'SIGNED',
      signedAt: at(5),
      consentAt: at(5),
      ip: '127.0.0.1',
      userAgent: 'x',
      values: { a: 'b' },
    });
    expect(step.envelope.signers[0]).not.toHaveProperty('drawings');
    expect(statusesOf(step.envelope)).toEqual(['SIGNED', 'SENT', 'PENDING']);
    expect([step.envelope.status, mailedBy(step)]).toEqual(['IN_PROGRESS', [['request', 1]]]);
    expect(step.envelope.history.slice(-2).map(({ what }) => what)).toEqual(['signed', 'notified']);
    expect(step.events).toMatchObject([{ event: 'envelope.signed', data: { status: 'IN_PROGRESS' } }]);
  });

  const lastSignature = (rules: Partial<Rules>) => {
    const signed = [0, 1].reduce(
      (one, n) => signBy(one, n, n).envelope,
      sent({ signingOrder: 'SEQUENTIAL' }),
    );
    return signBy(signed, 2, 9, { ...DEFAULT_RULES, ...rules });
  };

  it('completes the envelope after the last signature', () => {
    const { envelope, events, mails } = lastSignature({
      finalisation: 'at-once',
      'last-signed': 'in-progress',
    });
    const folder = `esign/envelopes/org_1/${envelope.id}`;
    expect(envelope).toMatchObject({
      status: 'COMPLETED',
      completedAt: at(9),
      ...{
        signedDocumentStorageKey: `${folder}/signed.pdf`,
        certificateStorageKey: `${folder}/certificate.pdf`,
      },
    });
    expect(lastOf(envelope)?.what).toBe('completed');
    expect(mails.map(({ kind }) => kind)).toEqual(['completed', 'completed', 'completed']);
    expect(events.map(({ event, data }) => [event, data.status])).toEqual([
      ['envelope.signed', 'IN_PROGRESS'],
      ['envelope.completed', 'COMPLETED'],
    ]);
    expect(completedEvent(envelope, at(9), DEFAULT_RULES).data).toMatchObject({
      completedAt: at(9),
      signers: [{ email: ada.email, status: 'SIGNED' }, {}, {}],
      documentStorageKey: `${folder}/document.pdf`,
      signedDocumentStorageKey: `${folder}/signed.pdf`,
      certificateStorageKey: `${folder}/certificate.pdf`,
    });
  });

  it('shows COMPLETED in the last event if chosen', () => {
    const [first] = lastSignature({ finalisation: 'at-once', 'last-signed': 'completed' }).events;
    expect(first?.data.status).toBe('COMPLETED');
  });

  it('leaves the envelope to be completed later if chosen', () => {
    const { envelope, events, mails } = lastSignature({ finalisation: 'delayed' });
    expect([envelope.status, predicates.isFinalizing(envelope), events.length, mails]).toEqual([
      'IN_PROGRESS',
      true,
      1,
      [],
    ]);
    expect(predicates.lastSignedAt(envelope)).toBe(START + 9);
    expect(predicates.isDue(envelope, Number.MAX_SAFE_INTEGER)).toBe(false);
    expect(lifecycle.finalize(envelope).envelope.completedAt).toBe(at(9 + predicates.FINALIZING_MS));
  });
});

describe('ending an envelope early', () => {
  const half = () => signBy(sent({ signingOrder: 'SEQUENTIAL' }), 0, 1).envelope;

  it('by cancellation informs those who were asked', () => {
    const step = lifecycle.cancel(half(), 'why', START + 2);
    expect([step.envelope.status, lastOf(step.envelope)]).toEqual([
      'CANCELLED',
      { at: at(2), what: 'cancelled', signerId: null, detail: 'why' },
    ]);
    expect(mailedBy(step)).toEqual([
      ['cancelled', 0],
      ['cancelled', 1],
    ]);
    expect(step.events).toMatchObject([{ event: 'envelope.cancelled', data: { reason: 'why' } }]);
  });

  it.each<[EnvelopeRecord['status'], Rules['cancel'], string | undefined]>([
    ['DRAFT', 'strict', 'INVALID_STATE'],
    ['SENT', 'strict', undefined],
    ['DECLINED', 'strict', 'INVALID_STATE'],
    ['COMPLETED', DEFAULT_RULES.cancel, 'INVALID_STATE'],
    ['EXPIRED', DEFAULT_RULES.cancel, 'INVALID_STATE'],
    ['CANCELLED', DEFAULT_RULES.cancel, 'INVALID_STATE'],
    ['DRAFT', DEFAULT_RULES.cancel, undefined],
    ['DECLINED', DEFAULT_RULES.cancel, undefined],
  ])('by cancellation of a %s one (%s): %s', (status, cancel, code) => {
    const envelope: EnvelopeRecord = { ...half(), status };
    expect(codeOf(() => lifecycle.cancel(envelope, null, START, { ...DEFAULT_RULES, cancel }))).toBe(code);
  });

  it('by declining informs the others who were asked', () => {
    const envelope = half();
    const step = lifecycle.decline(envelope, { signerId: idOf(envelope, 1), reason: 'no' }, START + 3);
    expect(step.envelope.signers[1]).toMatchObject({
      status: 'DECLINED',
      declinedAt: at(3),
      declineReason: 'no',
    });
    expect(lastOf(step.envelope)).toMatchObject({ what: 'declined', detail: 'no' });
    expect(mailedBy(step)).toEqual([['declined', 0]]);
    expect(step.events[0]?.data).toMatchObject({
      status: 'DECLINED',
      signer: { email: bob.email, declinedAt: at(3), declineReason: 'no' },
    });
  });

  it('by expiry informs those who are asked, and has the time of expiry', () => {
    const envelope = half();
    const step = lifecycle.expire(envelope);
    expect([step.envelope.status, lastOf(step.envelope)?.at]).toEqual(['EXPIRED', envelope.expiresAt]);
    expect(mailedBy(step)).toEqual([['expired', 1]]);
    expect(predicates.isDue(envelope, Date.parse(envelope.expiresAt))).toBe(true);
    expect(predicates.isDue(envelope, Date.parse(envelope.expiresAt) - 1)).toBe(false);
  });
});

describe('reminding', () => {
  it.each<[Rules['reminder-gap'], number]>([
    ['none', 0],
    ['1h', HOUR],
    ['24h', DAY],
  ])('is possible again after the chosen gap: %s', (gap, ms) => {
    const rules: Rules = { ...DEFAULT_RULES, 'reminder-gap': gap };
    const first = lifecycle.remind(sent({ signingOrder: 'PARALLEL' }), null, START, rules);
    expect(mailedBy(first).map(([, n]) => n)).toEqual([0, 1, 2]);
    expect(first.envelope.history.slice(-3).map(({ what }) => what)).toEqual(Array(3).fill('reminded'));
    const again = (time: number) => codeOf(() => lifecycle.remind(first.envelope, null, START + time, rules));
    expect(again(ms)).toBeUndefined();
    if (ms > 0) expect(again(ms - 1)).toBe('INVALID_STATE');
  });

  it('reaches only signers whose turn it is', () => {
    const envelope = signBy(sent({ signingOrder: 'SEQUENTIAL' }), 0, 1).envelope;
    expect(mailedBy(lifecycle.remind(envelope, null, START))).toEqual([['reminder', 1]]);
    expect(mailedBy(lifecycle.remind(envelope, idOf(envelope, 1), START))).toEqual([['reminder', 1]]);
    const codes = [idOf(envelope, 0), idOf(envelope, 2), 'signer_x'].map((id) =>
      codeOf(() => lifecycle.remind(envelope, id, START)),
    );
    expect(codes).toEqual(['INVALID_STATE', 'INVALID_STATE', 'NOT_FOUND']);
    expect(codeOf(() => lifecycle.remind(draft(), null, START))).toBe('INVALID_STATE');
  });
});

describe('finding a signer', () => {
  it('takes an ID, an address, or the next one', () => {
    const envelope = sent({ signingOrder: 'SEQUENTIAL' });
    expect(predicates.findSigner(envelope, null)).toBe(idOf(envelope, 0));
    expect(predicates.findSigner(envelope, 'BOB@example.com')).toBe(idOf(envelope, 1));
    expect(predicates.findSigner(envelope, idOf(envelope, 2))).toBe(idOf(envelope, 2));
    expect(codeOf(() => predicates.findSigner(envelope, 'nobody'))).toBe('NOT_FOUND');
    expect(codeOf(() => predicates.findSigner(draft(), null))).toBe('INVALID_STATE');
    const cancelled = lifecycle.cancel(envelope, null, START).envelope;
    expect(codeOf(() => predicates.findSigner(cancelled, null))).toBe('INVALID_STATE');
  });

  it('prefers the one whose turn it is among several with the same address', () => {
    const envelope = sent({ signingOrder: 'SEQUENTIAL', signers: [ada, { ...ada, name: 'B' }] });
    expect(predicates.findSigner(envelope, ada.email)).toBe(idOf(envelope, 0));
    const next = signBy(envelope, 0, 1).envelope;
    expect(predicates.findSigner(next, ada.email)).toBe(idOf(envelope, 1));
  });

  it('takes the lowest order first', () => {
    const envelope = sent({
      signingOrder: 'PARALLEL',
      signers: [
        { ...ada, order: 2 },
        { ...bob, order: 1 },
      ],
    });
    expect(predicates.nextSigner(envelope)?.email).toBe(bob.email);
  });
});

describe('the records of a step', () => {
  const facts = { origin: 'http://127.0.0.1:1', rules: DEFAULT_RULES };
  const outcome = (step: lifecycle.LifecycleStep) => {
    let n = 0;
    return outcomeOf(step, { ...facts, randomId: (_, kind) => `${kind}${++n}` });
  };
  const mailsOf = (step: lifecycle.LifecycleStep) =>
    outcome(step).changes.flatMap(({ kind, value }) => (kind === 'mail' ? [value] : []));

  it('are the envelope, its emails, and its deliveries', () => {
    const step = lifecycle.send(draft({ webhookUrl: 'https://example.com/hook' }), START);
    const { changes, deliveries } = outcome(step);
    expect(changes.map(({ kind }) => kind)).toEqual(['envelope', 'mail', 'mail', 'mail', 'delivery']);
    expect(deliveries).toMatchObject([
      {
        id: 'dlv_dlv1',
        envelopeId: step.envelope.id,
        event: 'envelope.sent',
        state: 'pending',
        url: 'https://example.com/hook',
        createdAt: at(0),
        nextAttemptAt: at(0),
        attempts: [],
      },
    ]);
    expect(outcome(lifecycle.send(draft(), START)).deliveries).toEqual([]);
  });

  it('have emails with the link of each signer', () => {
    const step = lifecycle.send(draft({ subject: 'Lease', message: 'Hello there' }), START + 1);
    const [mail] = mailsOf(step);
    expect(mail).toMatchObject({
      kind: 'request',
      at: at(1),
      envelopeId: step.envelope.id,
      to: ada.email,
      subject: 'Lease',
      signerId: idOf(step.envelope, 0),
    });
    expect(mail?.id).toMatch(/^mail_mail\d$/);
    expect(mail?.text).toContain(`http://127.0.0.1:1/sign/${step.envelope.signers[0]?.token}\n\n`);
    expect(mail?.text).toMatch(/^Hello Ada Lovelace,\n\nHello there\n\n/);
    expect(mail?.text).toContain('31 January 2026');
    expect(mailsOf(lifecycle.send(draft(), START))[0]?.text).toMatch(/^Hello Ada Lovelace,\n\nOpen/);
  });

  it('have a subject for each kind of email', () => {
    const envelope = sent({ subject: 'S', signingOrder: 'SEQUENTIAL' });
    const subjects = [
      lifecycle.remind(envelope, null, START),
      lifecycle.cancel(envelope, null, START),
      lifecycle.decline(
        signBy(envelope, 0, 1).envelope,
        { signerId: idOf(envelope, 1), reason: null },
        START,
      ),
      lifecycle.expire(envelope),
    ].map((step) => mailsOf(step).map(({ subject }) => subject)[0]);
    expect(subjects).toEqual(['Reminder: S', 'Canceled: S', 'Declined: S', 'Expired: S']);
    const link = `/sign/${envelope.signers[0]?.token}`;
    expect(mailsOf(lifecycle.remind(envelope, null, START))[0]?.text).toContain(link);
  });

  it('are copied for a replay, with another ID', () => {
    const [delivery] = outcome(
      lifecycle.send(draft({ webhookUrl: 'https://example.com' }), START),
    ).deliveries;
    if (delivery === undefined) throw new Error('no delivery');
    const earlier = { ...delivery, state: 'failed' as const, nextAttemptAt: null, attempts: [] };
    expect(copyOf(earlier, at(9), (_, kind) => `${kind}7`)).toEqual({
      ...delivery,
      id: 'dlv_dlv7',
      createdAt: at(9),
      state: 'pending',
      nextAttemptAt: at(9),
      attempts: [],
    });
  });

  it.each([
    ['type', { id: 'evt_1', type: 'envelope.sent', createdAt: 'x', data: {} }],
    ['event', { event: 'envelope.sent', timestamp: 'x', data: {} }],
  ] as const)('have payloads with the chosen keys: %s', (payload, expected) => {
    const rules: Rules = { ...DEFAULT_RULES, payload };
    expect(JSON.parse(payloadText({ event: 'envelope.sent', at: 'x', data: {} }, 'evt_1', rules))).toEqual(
      expected,
    );
  });
});

describe('an email', () => {
  const facts = { origin: 'http://127.0.0.1', randomId: () => '1', rules: DEFAULT_RULES };
  const mailOf = (kind: MailRecord['kind']) => {
    const envelope = { ...sent(), subject: 'Sign this' };
    const step = { envelope, events: [], mails: [{ kind, signerId: idOf(envelope, 0) }] };
    const { changes } = outcomeOf(step, facts);
    return changes.find((one) => one.kind === 'mail')?.value;
  };

  it.each(['request', 'reminder', 'completed', 'declined', 'cancelled', 'expired'] as const)(
    'about %s names its subject and the template',
    (kind) => {
      const mail = mailOf(kind);
      expect(mail?.subject).toContain('Sign this');
      expect(mail?.text).toContain(lease.name);
      expect(mail?.text.split('\n\n').length).toBeGreaterThan(1);
    },
  );

  it('has a subject of its own for each kind', () => {
    const kinds = ['request', 'reminder', 'completed', 'declined', 'cancelled', 'expired'] as const;
    expect(new Set(kinds.map((kind) => mailOf(kind)?.subject)).size).toBe(6);
  });

  it('was sent at the time of the latest entry in the history', () => {
    const { envelope } = signBy(sent(), 0, HOUR);
    expect(lastOf(envelope)?.at).toBe(at(HOUR));
    const mails = [{ kind: 'reminder' as const, signerId: idOf(envelope, 1) }];
    const { changes } = outcomeOf({ envelope, events: [], mails }, facts);
    expect(changes.flatMap((one) => (one.kind === 'mail' ? one.value.at : []))).toEqual([at(HOUR)]);
  });
});
