import { afterEach, describe, expect, it } from 'vitest';
import { cancelEnvelope, remindEnvelope, sendEnvelope } from '../../src/envelopes/write-outcome.ts';
import { ServiceError, UnknownOutcomeError, UsageError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { json, loseReply, startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** A service with one envelope. An action changes its status unless disabled; then its response may be lost. */
async function service(
  status: string,
  behavior: { works?: boolean; lose?: boolean; refuse?: boolean; empty?: boolean } = {},
) {
  const envelope = {
    id: 'env_1',
    status,
    signers: [{ id: 'signer_1', email: 'ada@example.com', status: 'SENT' }],
  };
  const actions: { path: string; body: string }[] = [];
  server = await startServer((request, response) => {
    const action = /^\/api\/v1\/esign\/envelopes\/env_1\/(\w+)$/.exec(request.path)?.[1];
    if (action === undefined) return json(response, 200, { data: envelope });
    actions.push({ path: action, body: request.body });
    if (behavior.refuse) return json(response, 400, { error: { code: 'INVALID_STATE', message: 'not now' } });
    if (behavior.works !== false)
      envelope.status = { send: 'SENT', cancel: 'CANCELLED' }[action] ?? envelope.status;
    if (behavior.lose) return loseReply(response);
    if (behavior.empty) return void response.writeHead(204).end();
    json(response, 200, { data: envelope });
  });
  return { client: clientFor(server.origin), actions };
}

describe('sending and canceling', () => {
  it('return the envelope in its new state, for any response', async () => {
    for (const empty of [false, true]) {
      const { client } = await service('DRAFT', { empty });
      expect(await sendEnvelope(client, 'env_1')).toMatchObject({
        envelope: { id: 'env_1', status: 'SENT' },
        by: 'reply',
      });
      await server?.close();
    }
  });

  it('resolve a lost response by the state, without repeating the action', async () => {
    const sent = await service('DRAFT', { lose: true });
    expect(await sendEnvelope(sent.client, 'env_1')).toMatchObject({
      envelope: { status: 'SENT' },
      by: 'lookup',
    });
    expect(sent.actions).toHaveLength(1);
    await server?.close();
    const cancelled = await service('SENT', { lose: true });
    expect(await cancelEnvelope(cancelled.client, 'env_1', 'why')).toMatchObject({
      envelope: { status: 'CANCELLED' },
    });
    expect(cancelled.actions).toEqual([{ path: 'cancel', body: '{"reason":"why"}' }]);
  });

  it('are retried if the state shows that nothing happened, and finally stay unknown', async () => {
    const { client, actions } = await service('DRAFT', { lose: true, works: false });
    await expect(sendEnvelope(client, 'env_1')).rejects.toThrow(UnknownOutcomeError);
    expect(actions).toHaveLength(3);
  });

  it('count as done when a lost try was late and the next one is refused', async () => {
    const states = ['DRAFT', 'SENT'];
    server = await startServer((request, response, number) => {
      if (request.method === 'GET')
        return json(response, 200, { data: { id: 'env_1', status: states.shift() } });
      if (number === 1) return loseReply(response);
      json(response, 400, { error: { code: 'INVALID_STATE', message: 'not a draft' } });
    });
    expect(await sendEnvelope(clientFor(server.origin), 'env_1')).toMatchObject({
      envelope: { status: 'SENT' },
      by: 'lookup',
    });
  });

  it("pass on the service's refusal", async () => {
    const { client } = await service('COMPLETED', { refuse: true });
    await expect(cancelEnvelope(client, 'env_1')).rejects.toThrow(ServiceError);
  });
});

describe('reminding', () => {
  it('identifies a signer by ID, which it finds by address in any case', async () => {
    const { client, actions } = await service('SENT');
    await remindEnvelope(client, 'env_1', 'ADA@example.com');
    await remindEnvelope(client, 'env_1', 'signer_9');
    await remindEnvelope(client, 'env_1');
    expect(actions.map((one) => one.body)).toEqual([
      '{"signerId":"signer_1"}',
      '{"signerId":"signer_9"}',
      '',
    ]);
  });

  it('refuses an address that is not a signer, before anything is sent', async () => {
    const { client, actions } = await service('SENT');
    await expect(remindEnvelope(client, 'env_1', 'bob@example.com')).rejects.toThrow(UsageError);
    expect(actions).toEqual([]);
  });

  it('is never sent twice: a lost response stays unknown', async () => {
    const { client, actions } = await service('SENT', { lose: true });
    await expect(remindEnvelope(client, 'env_1')).rejects.toThrow(UnknownOutcomeError);
    expect(actions).toHaveLength(1);
  });
});
