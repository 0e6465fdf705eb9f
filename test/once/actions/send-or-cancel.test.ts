import { describe, expect, it } from 'vitest';
import { sendEnvelope, sendOrCancel } from '../../../src/once/actions/send-or-cancel.ts';
import { json, loseReply } from '../../support/server.ts';
import { type ResponseOutcome, seen, serviceOf } from '../one-service.ts';

describe('an action', () => {
  const DRAFT = { id: 'env_1', status: 'DRAFT' };
  const SENT = { id: 'env_1', status: 'SENT' };

  /** Sends env_1 with the given responses to its tries and to the reads of its state, in turn. */
  async function send(
    tries: ((response: Parameters<ResponseOutcome>[1]) => void)[],
    states: readonly unknown[],
  ) {
    let [acts, reads] = [0, 0];
    const { client, clock } = await serviceOf(({ method }, response) => {
      if (method === 'POST') return tries[acts++]?.(response);
      const state = states[reads++];
      return state === undefined ? loseReply(response) : json(response, 200, { data: state });
    });
    const outcome = await sendOrCancel(client, 'env_1', {
      send: () => client.envelopes.send('env_1'),
      happened: ({ status }) => status === 'SENT',
    }).catch((error: unknown) => ({ thrown: error }));
    return { outcome, acts, reads, slept: clock.slept };
  }
  const refuse =
    (code: string, status = 400) =>
    (response: Parameters<ResponseOutcome>[1]) =>
      json(response, status, { error: { code, message: 'no' } });

  it('is resolved by the response, or by reading if the response has no status', async () => {
    expect(await send([(response) => json(response, 200, { data: SENT })], [])).toMatchObject({
      outcome: { by: 'reply', envelope: SENT },
      reads: 0,
    });
    expect(await send([(response) => void response.writeHead(204).end()], [SENT])).toMatchObject({
      outcome: { by: 'reply', envelope: SENT },
    });
  });

  it('fails if its first response is a refusal, even if someone else has already done it', async () => {
    for (const [code, status] of [
      ['INVALID_STATE', 400],
      ['FORBIDDEN', 403],
    ] as const) {
      const done = await send([refuse(code, status)], [SENT]);
      expect(done).toMatchObject({ outcome: { thrown: { code } }, acts: 1, reads: 0 });
    }
  });

  it('is retried with growing delays while the status shows that nothing happened', async () => {
    const done = await send([loseReply, loseReply, loseReply], [DRAFT, DRAFT, DRAFT, DRAFT]);
    expect(done).toMatchObject({ outcome: { thrown: { name: 'NetworkError' } }, acts: 3, reads: 3 });
    expect(done.slept).toEqual([1_000, 1_500]);
  });

  it("is not retried if the state can't be read", async () => {
    expect(await send([loseReply, loseReply], [])).toMatchObject({
      outcome: { thrown: { name: 'NetworkError' } },
      acts: 1,
      reads: 1,
      slept: [],
    });
  });

  it('is resolved by the previous try if the next is refused because of the state', async () => {
    expect(await send([loseReply, refuse('INVALID_STATE')], [DRAFT, SENT])).toMatchObject({
      outcome: { by: 'lookup', envelope: SENT },
      acts: 2,
    });
  });

  it.each([
    ['for another reason', 'FORBIDDEN', [DRAFT, SENT], 1],
    ['because of a state that it did not cause', 'INVALID_STATE', [DRAFT, DRAFT], 2],
    ["and the state can't be read", 'INVALID_STATE', [DRAFT], 2],
  ])('fails if the next try is refused %s', async (_, code, states, reads) => {
    const done = await send([loseReply, refuse(code), loseReply], states);
    expect(done).toMatchObject({ outcome: { thrown: { code } }, acts: 2, reads });
  });

  it('is not done if the response to a send was lost and the draft was canceled meanwhile', async () => {
    const canceled = { id: 'env_1', status: 'CANCELLED', sentAt: null };
    const { client } = await serviceOf(({ method }, response) =>
      method === 'GET'
        ? json(response, 200, { data: canceled })
        : seen().length === 1
          ? loseReply(response)
          : refuse('INVALID_STATE')(response),
    );
    await expect(sendEnvelope(client, 'env_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
  });
});
