import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../src/api/schemas.ts';
import { carryOut } from '../../../src/envelopes/replace/carry-out.ts';
import { planReplacement } from '../../../src/envelopes/replace/plan.ts';
import { NetworkError, ServiceError } from '../../../src/kernel/errors.ts';
import {
  draft,
  memoryIds,
  memoryRecord,
  memoryService,
  refusedByState,
  replaceIn,
  wish,
  wrong,
} from './memory-service.ts';

const signed: Envelope = {
  ...wrong,
  status: 'IN_PROGRESS',
  signers: [{ id: 's_1', email: 'ada@example.com', name: 'Ada', status: 'SIGNED' }],
};
const INVALID = { code: 'INVALID_STATE' };
const stepsOf = async (envelopes: Envelope[], request = {}, known = {}) =>
  (await planReplacement(memoryService(envelopes).client, { ...wish, ...request }, known)).steps;

describe('the remaining steps', () => {
  it.each<[string, Envelope[], string[], object?]>([
    ['of an active envelope', [wrong], ['make', 'cancel', 'send']],
    ['of a draft that replaces it', [wrong, draft], ['cancel', 'send']],
    ['of a replacement that was sent', [wrong, { ...draft, status: 'SENT' }], ['cancel']],
    ['of an ended envelope', [{ ...wrong, status: 'CANCELLED' }], ['make', 'send']],
    ['of an ended one with a draft', [{ ...wrong, status: 'EXPIRED' }, draft], ['send']],
    [
      'of a finished replacement',
      [
        { ...wrong, status: 'CANCELLED' },
        { ...draft, status: 'SENT' },
      ],
      [],
    ],
    ['for a draft', [wrong], ['make'], { draft: true }],
    ['for a draft that exists', [wrong, draft], [], { draft: true }],
    ['of an envelope without a status', [{ ...wrong, status: undefined }], ['make', 'cancel', 'send']],
  ])('%s are %j', async (_, envelopes, steps, request = {}) => {
    expect(await stepsOf(envelopes, request)).toEqual(steps);
  });

  it.each<[string, Envelope[], object?]>([
    ['somebody has signed', [signed]],
    ['somebody has signed, and a draft exists', [signed, draft]],
    ['somebody has signed, for a draft', [signed], { draft: true }],
    ['everybody has signed', [{ ...wrong, status: 'COMPLETED' }], { evenIfSigned: true }],
    [
      'everybody has signed, and a draft exists',
      [{ ...wrong, status: 'COMPLETED' }, draft],
      { evenIfSigned: true },
    ],
    ['the existing draft has other changes', [wrong, { ...draft, subject: 'Other' }]],
    ['the existing replacement has other changes', [wrong, { ...draft, subject: 'Other', status: 'SENT' }]],
  ])('are refused if %s', async (_, envelopes, request) => {
    await expect(stepsOf(envelopes, request)).rejects.toMatchObject(INVALID);
  });

  it.each<[string, string[]]>([
    ['DRAFT', ['envelopes get env_new', 'envelopes cancel env_new']],
    ['SENT', ['envelopes replace env_new']],
  ])('are refused with the next command if a %s with other changes exists', async (status, commands) => {
    const refusal = stepsOf([wrong, { ...draft, subject: 'Other', status }]);
    for (const command of commands)
      await expect(refusal).rejects.toMatchObject({ hint: expect.stringContaining(command) as unknown });
    await expect(refusal).rejects.toThrow('env_new');
  });

  it.each<[string, Envelope[], object?]>([
    ['somebody has signed and has to sign again', [signed], { evenIfSigned: true }],
    ['the old one is already canceled, whoever has signed', [{ ...signed, status: 'CANCELLED' }, draft]],
    ['the draft exists and nothing is left, whoever has signed', [signed, draft], { draft: true }],
  ])('are allowed if %s', async (_, envelopes, request) => {
    await expect(stepsOf(envelopes, request)).resolves.toBeDefined();
  });

  it('are refused if nothing would change, unless the old one has ended or the new one exists', async () => {
    const same = { changes: { subject: wrong.subject ?? '' } };
    await expect(stepsOf([wrong], same)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(stepsOf([{ ...wrong, status: undefined }], same)).rejects.toMatchObject({ code: 'USAGE' });
    expect(await stepsOf([{ ...wrong, status: 'DECLINED' }], same)).toEqual(['make', 'send']);
    expect(await stepsOf([wrong, { ...draft, subject: wrong.subject }], same)).toEqual(['cancel', 'send']);
  });

  it.each<[string, Envelope, boolean]>([
    ['exists', { ...draft, metadata: null }, true],
    ['replaces another envelope', { ...draft, metadata: { replaces: 'env_other' } }, false],
    ['was canceled', { ...draft, metadata: null, status: 'CANCELLED' }, false],
  ])('use the recorded envelope if it %s', async (_, recorded, isUsed) => {
    const { client } = memoryService([wrong, recorded]);
    const { made } = await planReplacement(client, wish, { madeId: 'env_new' });
    expect(made?.id).toBe(isUsed ? 'env_new' : undefined);
  });

  it('search for another one if the recorded envelope is gone', async () => {
    const { client } = memoryService([wrong, draft]);
    const { made } = await planReplacement(client, wish, { madeId: 'env_gone' });
    expect(made?.id).toBe('env_new');
  });
});

describe('a replacement', () => {
  it('creates a draft, cancels the old envelope, and sends the draft, and records each step', async () => {
    const service = memoryService([wrong]);
    const { old, new: made, events, entries } = await replaceIn(service);
    expect(service.calls).toEqual(['create', 'cancel env_old: wrong subject', 'send env_new']);
    expect(events.map(({ type, envelope }) => [type, envelope.id])).toEqual([
      ['made', 'env_new'],
      ['cancelled', 'env_old'],
      ['sent', 'env_new'],
    ]);
    expect(events).toMatchObject([{ by: 'reply' }, { by: 'reply' }, { by: 'reply' }]);
    expect(entries).toEqual([
      { type: 'asked', requestId: expect.any(String) as unknown },
      { type: 'made', id: 'env_new' },
      { type: 'cancelled' },
      { type: 'sent' },
    ]);
    expect([old.status, made.status, made.subject]).toEqual(['CANCELLED', 'SENT', 'Lease']);
  });

  it.each<[string, string | undefined, unknown[]]>([
    ['that is recorded', 'env_new', []],
    ['that is not recorded', undefined, [{ type: 'made', id: 'env_new' }]],
  ])('continues with a draft %s', async (_, madeId, first) => {
    const service = memoryService([wrong, draft]);
    const { events, entries } = await replaceIn(service, {}, { known: madeId ? { madeId } : {} });
    expect(events.map(({ type }) => type)).toEqual(['cancelled', 'sent']);
    expect(entries).toEqual([...first, { type: 'cancelled' }, { type: 'sent' }]);
  });

  it('only creates the draft if nothing else is wanted', async () => {
    const service = memoryService([wrong]);
    const { old, new: made } = await replaceIn(service, { draft: true });
    expect([service.calls, old.status, made.status]).toEqual([['create'], 'SENT', 'DRAFT']);
  });

  it('does nothing if everything is done', async () => {
    const service = memoryService([
      { ...wrong, status: 'CANCELLED' },
      { ...draft, status: 'SENT' },
    ]);
    const { events, entries } = await replaceIn(service, {}, { known: { madeId: 'env_new' } });
    expect([service.calls, events, entries]).toEqual([[], [], []]);
  });

  it('reads what the responses leave out', async () => {
    const service = memoryService([wrong]);
    const { cancel, send } = service.client.envelopes;
    const shortOf = (envelope: Envelope | undefined) => ({
      id: envelope?.id ?? '',
      status: envelope?.status,
    });
    Object.assign(service.client.envelopes, {
      cancel: async (id: string) => shortOf(await cancel(id)),
      send: async (id: string) => shortOf(await send(id)),
    });
    const { old, new: made } = await replaceIn(service);
    expect([old.subject, made.subject]).toEqual(['Laese', 'Lease']);
  });

  it('keeps a response with gaps if the envelope cannot be read', async () => {
    const service = memoryService([wrong]);
    const send = async (id: string) => {
      service.stored.delete(id);
      return { id, status: 'SENT' };
    };
    Object.assign(service.client.envelopes, { send });
    expect((await replaceIn(service)).new).toEqual({ id: 'env_new', status: 'SENT' });
  });

  it.each(['before the cancellation', 'before the sending'])('stops %s if it is aborted', async (when) => {
    const stop = new AbortController();
    const service = memoryService(
      when === 'before the sending' ? [{ ...wrong, status: 'EXPIRED' }, draft] : [wrong, draft],
    );
    await expect(
      replaceIn(service, {}, { meanwhile: () => stop.abort(), signal: stop.signal }),
    ).rejects.toThrow();
    expect(service.calls).toEqual([]);
  });
});

describe('a draft that is requested', () => {
  const lost = new NetworkError('NETWORK', 'lost', { maybeReceived: true });
  const refused = new ServiceError('VALIDATION_ERROR', 'no', { status: 400 });
  it.each<[string, Error, unknown[]]>([
    ['is recorded as not created if the service refuses it', refused, [{ type: 'refused' }]],
    ['stays open if the response is lost', lost, []],
    ['stays open after an error of the program', new Error('bug'), []],
  ])('%s', async (_, error, more) => {
    const { client } = memoryService([wrong], { create: () => Promise.reject(error) });
    const plan = await planReplacement(client, wish, {});
    const { memory, entries } = memoryRecord();
    const ids = memoryIds(client);
    const doing = carryOut(plan, wish, { client, memory, requestId: 'r-1', ids });
    await expect(doing.next()).rejects.toThrow();
    expect(entries).toEqual([{ type: 'asked', requestId: 'r-1' }, ...more]);
  });

  const earlier: Envelope = { ...draft, metadata: { esignRequestId: 'r-1' } };
  it.each<[string, Envelope['metadata'], boolean]>([
    ['replaces the same envelope', { esignRequestId: 'r-1', replaces: 'env_old' }, true],
    ['replaces another envelope', { esignRequestId: 'r-1', replaces: 'env_x' }, false],
    ['replaces none', { esignRequestId: 'r-1' }, false],
  ])('is that of an earlier run with its request ID if it %s', async (_, metadata, isUsed) => {
    const service = memoryService([wrong]);
    // The plan doesn't see it, because the list lags.
    const meanwhile = () => service.stored.set('env_new', { ...earlier, metadata });
    const run = replaceIn(service, {}, { known: { requestId: 'r-1', askedAt: 1 }, meanwhile });
    if (isUsed) expect((await run).events[0]).toMatchObject({ type: 'made', by: 'earlier' });
    else await expect(run).rejects.toMatchObject({ code: 'REQUEST_ID_USED' });
    expect(service.calls.includes('create')).toBe(false);
  });

  it('is not searched for if the request ID is new', async () => {
    const service = memoryService([wrong]);
    const meanwhile = () =>
      service.stored.set('env_x', { ...earlier, id: 'env_x', metadata: { esignRequestId: 'r-1' } });
    await replaceIn(service, {}, { known: { requestId: 'r-1' }, meanwhile });
    expect(service.calls[0]).toBe('create');
  });
});

describe('the cancellation of the old envelope', () => {
  const happening = (change: Partial<Envelope>, error: Error = refusedByState('env_old')) => {
    const service = memoryService([wrong, draft]);
    const cancel = async () => {
      service.stored.set('env_old', { ...service.find('env_old'), ...change });
      throw error;
    };
    Object.assign(service.client.envelopes, { cancel });
    return service;
  };

  it.each(['EXPIRED', 'DECLINED', 'CANCELLED'])('is not needed if it is %s by then', async (status) => {
    const atOnce = await replaceIn(happening({ status }));
    const before = memoryService([wrong, draft]);
    const meanwhile = () => before.stored.set('env_old', { ...wrong, status });
    for (const { events, new: made } of [atOnce, await replaceIn(before, {}, { meanwhile })]) {
      expect(events[0]).toMatchObject({ type: 'cancelled', by: 'lookup', envelope: { status } });
      expect(made.status).toBe('SENT');
    }
  });

  it('was too late if everybody has signed', async () => {
    const service = happening({ status: 'COMPLETED' });
    await expect(replaceIn(service, { evenIfSigned: true })).rejects.toMatchObject(INVALID);
    expect(service.find('env_new').status).toBe('DRAFT');
  });

  it('continues if the envelope has ended after a signature', async () => {
    const done = await replaceIn(happening({ status: 'EXPIRED', signers: signed.signers }));
    expect(done.new.status).toBe('SENT');
  });

  it.each<[string, Partial<Envelope>, Error]>([
    ['refuses it while it is open', {}, refusedByState('env_old')],
    ['denies it', { status: 'EXPIRED' }, new ServiceError('FORBIDDEN', 'no', { status: 403 })],
  ])('fails if the service %s', async (_, change, error) => {
    const service = happening(change, error);
    await expect(replaceIn(service)).rejects.toBe(error);
    expect(service.find('env_new').status).toBe('DRAFT');
  });

  it('is refused if somebody signs after the plan', async () => {
    const service = memoryService([wrong, draft]);
    const meanwhile = () => service.stored.set('env_old', signed);
    await expect(replaceIn(service, {}, { meanwhile })).rejects.toMatchObject(INVALID);
    expect(service.calls).toEqual([]);
  });
});

describe('sending the draft', () => {
  const ended: Envelope = { ...wrong, status: 'CANCELLED' };
  const sending = (change: Partial<Envelope>, error: Error = refusedByState('env_new')) => {
    const service = memoryService([ended, draft]);
    const send = async () => {
      service.stored.set('env_new', { ...service.find('env_new'), ...change });
      throw error;
    };
    Object.assign(service.client.envelopes, { send });
    return service;
  };

  it('is done if somebody else sent it', async () => {
    const { events, new: made } = await replaceIn(sending({ status: 'SENT', sentAt: draft.createdAt }));
    expect([events.at(-1), made.status]).toMatchObject([{ type: 'sent', by: 'lookup' }, 'SENT']);
  });

  it.each<[string, Partial<Envelope>, Error, object]>([
    ['it is still a draft', {}, refusedByState('env_new'), { message: refusedByState('env_new').message }],
    [
      'somebody canceled it',
      { status: 'CANCELLED' },
      refusedByState('env_new'),
      { code: 'INVALID_STATE', hint: expect.any(String) as unknown },
    ],
    [
      'it is denied',
      { status: 'SENT' },
      new ServiceError('FORBIDDEN', 'no', { status: 403 }),
      { code: 'FORBIDDEN' },
    ],
  ])('fails if %s', async (_, change, error, expected) => {
    await expect(replaceIn(sending(change, error))).rejects.toMatchObject(expected);
  });

  it('is left out for a replacement of another machine, which is kept', async () => {
    const other: Envelope = { ...draft, id: 'env_0', status: 'SENT', sentAt: draft.createdAt };
    const service = memoryService([ended, draft]);
    const meanwhile = () => service.stored.set('env_0', other);
    const sendOther = async () => other;
    Object.assign(service.client.envelopes, { send: sendOther });
    const {
      events,
      entries,
      new: made,
    } = await replaceIn(service, {}, { meanwhile, known: { madeId: 'env_new' } });
    expect(events[0]).toEqual({ type: 'superseded', envelope: other, ownId: 'env_new' });
    expect([made.id, service.find('env_new').status, entries[0]]).toEqual([
      'env_0',
      'CANCELLED',
      { type: 'made', id: 'env_0' },
    ]);
  });

  it.each<[string, Partial<Envelope>]>([
    ['was canceled as a draft', { status: 'CANCELLED' }],
    ['is a younger draft', { createdAt: '2026-01-02T04:00:00Z' }],
    ['replaces another envelope', { metadata: { replaces: 'env_x' } }],
  ])('is not left out for an envelope that %s', async (_, change) => {
    const service = memoryService([ended, draft]);
    const meanwhile = () => service.stored.set('env_0', { ...draft, id: 'env_0', ...change });
    expect((await replaceIn(service, {}, { meanwhile })).new.id).toBe('env_new');
  });

  it('is not left out for an envelope that is gone', async () => {
    const service = memoryService([ended, draft]);
    const { get } = service.client.envelopes;
    const meanwhile = () => service.stored.set('env_0', { ...draft, id: 'env_0', status: 'SENT' });
    Object.assign(service.client.envelopes, {
      get: (id: string) => get(id === 'env_0' ? 'env_gone' : id),
    });
    expect((await replaceIn(service, {}, { meanwhile })).new.id).toBe('env_new');
  });

  it('is not repeated, and nothing is canceled, if the draft was sent in the meantime', async () => {
    const service = memoryService([ended, draft]);
    const meanwhile = () => {
      service.stored.set('env_0', { ...draft, id: 'env_0', status: 'SENT' });
      service.stored.set('env_new', { ...draft, status: 'SENT', sentAt: draft.createdAt });
    };
    const { new: made } = await replaceIn(service, {}, { meanwhile });
    expect([made.id, service.calls.filter((call) => call.startsWith('cancel'))]).toEqual(['env_new', []]);
  });

  it('is refused if the replacement of another machine differs', async () => {
    const service = memoryService([ended, draft]);
    const other: Envelope = { ...draft, id: 'env_0', subject: 'Other', status: 'SENT' };
    const meanwhile = () => service.stored.set('env_0', other);
    await expect(replaceIn(service, {}, { meanwhile })).rejects.toMatchObject(INVALID);
    expect(service.find('env_new').status).toBe('CANCELLED');
  });
});
