import { createBody, newRequestId } from '../../src/envelopes/create.ts';
import { type CreateOptions, createEnvelope } from '../../src/envelopes/create-once.ts';
import type { Actor } from './actor.ts';
import { ALL_RULES, reserveSettleSend } from './reference.ts';

const ADA = { email: 'ada@example.com', name: 'Ada' };

/** `envelopes create --request-id order-1 --send`, on every machine. `rules` replace options, to see what they are for. */
export function createWithId(rules: Partial<CreateOptions> = {}): Actor {
  return async ({ client, memory, signal }) => {
    const body = createBody({ templateId: 'tmpl_1', signers: [ADA], send: true }, 'order-1');
    const { envelope } = await createEnvelope(client, body, { memory, rerun: true, signal, ...rules });
    return { sent: [envelope.id] };
  };
}

/** `envelopes create --send` without a request ID. Each machine sends its own envelope. */
export const createWithoutId: Actor = async ({ name, client, memory, signal }) => {
  const signers = [{ email: `${name.toLowerCase()}@example.com`, name }];
  const body = createBody({ templateId: 'tmpl_1', signers, send: true }, newRequestId());
  const { envelope } = await createEnvelope(client, body, {
    memory,
    rerun: false,
    resumesInterrupted: true,
    signal,
  });
  return { sent: [envelope.id] };
};

/** The actors by the names that `npm run explore -- --actor` takes. */
export const ACTORS: Readonly<Record<string, Actor>> = {
  create: createWithId(),
  'create-without-id': createWithoutId,
  reference: reserveSettleSend(ALL_RULES),
};
