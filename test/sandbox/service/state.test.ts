import { describe, expect, it } from 'vitest';
import type { DeliveryRecord, EnvelopeRecord, KeyRecord, MailRecord } from '../../../src/sandbox/model.ts';
import { DEFAULT_RULES } from '../../../src/sandbox/service/base/choices.ts';
import { draftEnvelope } from '../../../src/sandbox/service/engine/draft.ts';
import { CountedIds } from '../../../src/sandbox/service/store/counted-ids.ts';
import { type AuditRecord, SERVICE_FORMAT } from '../../../src/sandbox/service/store/records.ts';
import { StoreState } from '../../../src/sandbox/service/store/state.ts';
import { ada, bob, lease } from './rig.ts';

const AT = '2026-01-01T00:00:00.000Z';

function envelope(id: string, more: Partial<EnvelopeRecord> = {}): EnvelopeRecord {
  const body = { templateId: lease.id, signers: [ada, bob] };
  const facts = { randomId: () => '9', rules: DEFAULT_RULES };
  return { ...draftEnvelope('org_1', lease, body, Date.parse(AT), facts), id, ...more };
}
const delivery = (id: string, event: string): DeliveryRecord => ({
  id,
  envelopeId: 'env_1',
  event: 'envelope.sent',
  url: 'http://127.0.0.1',
  createdAt: AT,
  body: JSON.stringify({ id: event }),
  state: 'pending',
  nextAttemptAt: null,
  attempts: [],
});
const mail = (id: string): MailRecord => ({
  id,
  at: AT,
  kind: 'request',
  envelopeId: 'env_1',
  signerId: 's',
  to: 'a',
  subject: 'b',
  text: 'c',
});
const key = (id: string, hash: string): KeyRecord => ({
  id,
  hash,
  orgId: 'org_1',
  name: 'n',
  description: '',
  scopes: [],
  expiresAt: null,
  prefix: 'esk_',
  createdAt: AT,
  lastUsedAt: null,
  revokedAt: null,
});
const audit = (id: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  id,
  at: AT,
  orgId: 'org_1',
  keyId: 'key_1',
  action: 'api.request',
  method: 'GET',
  path: '/',
  status: 200,
  ...more,
});

function stateOf(...envelopes: EnvelopeRecord[]): StoreState {
  const state = new StoreState();
  for (const value of envelopes) state.apply({ kind: 'envelope', value });
  return state;
}
const idsIn = (state: StoreState, page: Partial<Parameters<StoreState['envelopePage']>[1]> = {}) =>
  state.envelopePage('org_1', { start: 0, count: 10, from: 'newest', ...page }).items.map(({ id }) => id);

describe('counted IDs', () => {
  const idsOf = (state: StoreState) => new CountedIds(state, (bytes) => `random${bytes}`);

  it('count each kind, and leave IDs without a kind random', () => {
    const ids = idsOf(stateOf());
    expect([ids.next(1, 'env'), ids.next(1, 'env'), ids.next(1, 'mail'), ids.next(7)]).toEqual([
      '1',
      '2',
      '1',
      'random7',
    ]);
  });

  it('continue after the highest number of the kind in the state', () => {
    const state = stateOf(envelope('env_2'), envelope('env_x'));
    state.apply({ kind: 'template', value: { ...lease, id: 'tmpl_4' } });
    for (const id of ['mail_3', 'mail_12']) state.apply({ kind: 'mail', value: mail(id) });
    state.apply({ kind: 'delivery', value: delivery('dlv_5', 'evt_6') });
    state.apply({ kind: 'key', value: key('key_7', 'h') });
    state.apply({ kind: 'audit', value: audit('aud_8') });
    const ids = idsOf(state);
    const next = ['tmpl', 'mail', 'dlv', 'evt', 'key', 'aud', 'signer', 'other'].map((kind) =>
      ids.next(1, kind),
    );
    expect(next).toEqual(['5', '13', '6', '7', '8', '9', '10', '1']);
    // Envelopes can have any number, so the first that is free is taken.
    expect([ids.next(1, 'env'), ids.next(1, 'env')]).toEqual(['1', '3']);
    expect(ids.next(1, 'mail')).toBe('14');
    state.apply({ kind: 'reset', value: null });
    ids.restart();
    expect(ids.next(1, 'mail')).toBe('1');
  });

  it('are the same for the same name, until they restart', () => {
    const ids = idsOf(stateOf());
    const names = ['a', 'b', 'a'];
    expect(names.map((name) => ids.named(name, 'signer'))).toEqual(['1', '2', '1']);
    ids.restart();
    expect(ids.named('b', 'signer')).toBe('1');
  });

  it('continue after the highest link', () => {
    const [one, two] = envelope('env_1').signers;
    if (one === undefined || two === undefined) throw new Error('no signers');
    const signers = [
      { ...one, token: '41' },
      { ...two, token: 'abc' },
    ];
    expect(idsOf(stateOf(envelope('env_1', { signers }))).next(1, 'link')).toBe('42');
  });
});

describe('the pages of envelopes', () => {
  const times = [3, 1, 2, 1].map((day) => `2026-01-0${day}T00:00:00.000Z`);
  const all = times.map((createdAt, n) => envelope(`env_${n}`, { createdAt }));

  it('are ordered by creation, then by arrival', () => {
    const state = stateOf(...all);
    expect(idsIn(state)).toEqual(['env_0', 'env_2', 'env_3', 'env_1']);
    expect(idsIn(state, { from: 'oldest' })).toEqual(['env_1', 'env_3', 'env_2', 'env_0']);
    expect(state.envelopesOf('org_1').map(({ id }) => id)).toEqual(['env_0', 'env_2', 'env_3', 'env_1']);
  });

  it.each<['newest' | 'oldest', number, number, string[]]>([
    ['newest', 1, 2, ['env_2', 'env_3']],
    ['newest', 3, 2, ['env_1']],
    ['newest', 4, 2, []],
    ['newest', 9, 2, []],
    ['oldest', 1, 2, ['env_3', 'env_2']],
    ['oldest', 3, 2, ['env_0']],
    ['oldest', 4, 2, []],
  ])('start at any place: %s from %i', (from, start, count, ids) => {
    expect(idsIn(stateOf(...all), { from, start, count })).toEqual(ids);
  });

  it('follow the status, and are separate for each organization', () => {
    const state = stateOf(...all, envelope('env_9', { orgId: 'org_2' }));
    const [first] = all;
    if (first === undefined) throw new Error('no envelope');
    state.apply({ kind: 'envelope', value: { ...first, status: 'SENT' } });
    state.apply({ kind: 'envelope', value: { ...first, status: 'SENT', subject: 'again' } });
    expect(idsIn(state, { status: 'SENT' })).toEqual(['env_0']);
    const second = envelope('env_1', { createdAt: '2026-01-01T00:00:00.000Z' });
    state.apply({ kind: 'envelope', value: { ...second, status: 'SENT' } });
    expect(idsIn(state, { status: 'SENT' })).toEqual(['env_0', 'env_1']);
    state.apply({ kind: 'envelope', value: second });
    expect(idsIn(state, { status: 'DRAFT' })).toEqual(['env_2', 'env_3', 'env_1']);
    expect(idsIn(state, { status: 'UNKNOWN' })).toEqual([]);
    expect(state.envelopePage('org_1', { start: 0, count: 1, from: 'newest' }).total).toBe(4);
    expect(state.envelopesOf('org_2').map(({ id }) => id)).toEqual(['env_9']);
  });

  it('are in the order of their times, also after one was replaced by an envelope with another time', () => {
    const state = stateOf(envelope('env_1'), envelope('env_2'));
    expect(idsIn(state, { status: 'DRAFT' })).toEqual(['env_2', 'env_1']);
    const createdAt = '2026-02-01T00:00:00.000Z';
    for (const subject of ['a', 'b'])
      state.apply({ kind: 'envelope', value: envelope('env_1', { createdAt, subject }) });
    expect([idsIn(state), idsIn(state, { status: 'DRAFT' })]).toEqual(Array(2).fill(['env_1', 'env_2']));
    const createdLast = '2026-03-01T00:00:00.000Z';
    state.apply({ kind: 'envelope', value: envelope('env_2', { createdAt: createdLast }) });
    expect(idsIn(state)).toEqual(['env_2', 'env_1']);
    state.apply({ kind: 'envelope', value: envelope('env_2', { createdAt: createdLast, orgId: 'org_2' }) });
    expect([idsIn(state), state.envelopesOf('org_2').map(({ id }) => id)]).toEqual([['env_1'], ['env_2']]);
  });
});

describe('the state', () => {
  it('counts the envelopes and signers of each month once', () => {
    const state = stateOf(envelope('env_1'), envelope('env_1', { status: 'SENT' }), envelope('env_2'));
    state.apply({ kind: 'envelope', value: envelope('env_3', { createdAt: '2026-02-01T00:00:00.000Z' }) });
    expect(state.createdIn('org_1', '2026-01')).toEqual({ envelopes: 2, signers: 4 });
    expect(state.createdIn('org_1', '2026-02')).toEqual({ envelopes: 1, signers: 2 });
    expect(state.createdIn('org_2', '2026-01')).toEqual({ envelopes: 0, signers: 0 });
  });

  it('knows when active envelopes expire, and when signed ones are completed', () => {
    const state = stateOf(envelope('env_1'));
    expect([state.expiries.first, state.finalizations.first]).toEqual([undefined, undefined]);
    const sent = envelope('env_1', { status: 'SENT', expiresAt: '2026-01-05T00:00:00.000Z' });
    state.apply({ kind: 'envelope', value: sent });
    state.apply({ kind: 'envelope', value: { ...sent, status: 'IN_PROGRESS' } });
    expect(state.expiries.take(Number.MAX_SAFE_INTEGER)).toEqual(['env_1']);
    const signers = sent.signers.map((one) => ({ ...one, status: 'SIGNED' as const, signedAt: AT }));
    for (const subject of ['a', 'b'])
      state.apply({ kind: 'envelope', value: { ...sent, subject, status: 'IN_PROGRESS', signers } });
    expect(state.finalizations.first).toBe(Date.parse(AT) + 5_000);
    expect(state.finalizations.take(Number.MAX_SAFE_INTEGER)).toEqual(['env_1']);
  });

  it('shows an uploaded template only to its owner', () => {
    const state = stateOf(envelope('env_1'));
    const uploaded = (id: string, orgId: string | null) => ({
      ...lease,
      id,
      upload: { orgId, pages: [] },
    });
    for (const value of [
      lease,
      uploaded('tmpl_a', 'org_1'),
      uploaded('tmpl_b', 'org_2'),
      uploaded('tmpl_c', null),
    ])
      state.apply({ kind: 'template', value });
    expect(state.templatesOf('org_1').map(({ id }) => id)).toEqual([lease.id, 'tmpl_a', 'tmpl_c']);
    expect([state.template('tmpl_b', 'org_1'), state.template('tmpl_x', 'org_1')]).toEqual([
      undefined,
      undefined,
    ]);
    expect(state.template('tmpl_b', 'org_2')?.id).toBe('tmpl_b');
    expect([state.isUsed(lease.id), state.isUsed('tmpl_a')]).toEqual([true, false]);
  });

  it('records the last use of a key, and keeps at least the latest 10,000 audit entries', () => {
    const state = new StoreState();
    state.apply({ kind: 'key', value: key('key_1', 'hash') });
    state.apply({ kind: 'audit', value: audit('aud_x', { action: 'api.rate_limited' }) });
    state.apply({ kind: 'audit', value: audit('aud_y', { keyId: null }) });
    state.apply({ kind: 'audit', value: audit('aud_z', { keyId: 'key_9' }) });
    expect(state.keyByHash('hash')?.lastUsedAt).toBe(null);
    expect(state.keyByHash('other')).toBeUndefined();
    for (let n = 3; n < 19_999; n++) state.apply({ kind: 'audit', value: audit(`aud_${n}`) });
    expect([state.audit.size, state.keyByHash('hash')?.lastUsedAt]).toEqual([19_999, AT]);
    state.apply({ kind: 'audit', value: audit('aud_last') });
    expect([state.audit.size, state.audit.has('aud_x'), state.audit.has('aud_last')]).toEqual([
      10_000,
      false,
      true,
    ]);
  });

  it('is rebuilt by its changes, and emptied by a reset', () => {
    const state = stateOf(envelope('env_1', { status: 'SENT' }));
    state.apply({ kind: 'org', value: 'org_1' });
    state.apply({ kind: 'clock', value: 7 });
    state.apply({ kind: 'organisation', value: { id: 'org_1', name: 'Acme' } });
    state.apply({ kind: 'template', value: lease });
    state.apply({ kind: 'key', value: key('key_1', 'h') });
    state.apply({ kind: 'mail', value: mail('mail_1') });
    state.apply({ kind: 'delivery', value: delivery('dlv_1', 'evt_1') });
    state.apply({ kind: 'audit', value: audit('aud_1', { keyId: null }) });
    const again = new StoreState();
    for (const change of state.changes()) again.apply(change);
    expect([...again.changes()]).toEqual([...state.changes()]);
    expect([...state.changes()].map(({ kind }) => kind)).toEqual([
      ...['org', 'clock', 'organisation', 'template', 'key', 'envelope', 'mail', 'delivery', 'audit'],
    ]);
    again.apply({ kind: 'reset', value: null });
    expect([...again.changes()]).toEqual([
      { kind: 'org', value: 'org_1' },
      { kind: 'clock', value: 0 },
    ]);
    expect([again.keyByHash('h'), again.isUsed(lease.id), again.expiries.first]).toEqual([
      undefined,
      false,
      undefined,
    ]);
    expect([again.envelopesOf('org_1'), again.createdIn('org_1', '2026-01').envelopes]).toEqual([[], 0]);
  });
});

describe('a line of the journal', () => {
  it.each<[unknown, boolean]>([
    [{ changes: [] }, true],
    [{ changes: [{ kind: 'org', value: 'org_1' }] }, true],
    [{ changes: [{ kind: 'org', value: 1 }] }, false],
    [{ changes: [{ kind: 'clock', value: 1 }] }, true],
    [{ changes: [{ kind: 'clock', value: '1' }] }, false],
    [{ changes: [{ kind: 'reset', value: null }] }, true],
    [{ changes: [{ kind: 'reset', value: 1 }] }, false],
    [{ changes: [{ kind: 'other', value: null }] }, false],
    [{ changes: [{ kind: 'other', value: 'x' }] }, false],
    ...['organisation', 'template', 'envelope', 'key', 'mail', 'delivery', 'audit'].flatMap(
      (kind): [unknown, boolean][] => [
        [{ changes: [{ kind, value: { id: 'x' } }] }, true],
        [{ changes: [{ kind, value: { id: 1 } }] }, false],
        [{ changes: [{ kind, value: null }] }, false],
      ],
    ),
    [{ changes: [{ kind: 'org', value: 'org_1' }, null] }, false],
    [{ changes: {} }, false],
    [[], false],
    [null, false],
  ])('%j is read: %s', (value, isRead) => {
    expect(SERVICE_FORMAT.read(value)).toEqual(isRead ? value : undefined);
  });
});
