import { createBody, newRequestId } from '../../src/once/create-body.ts';
import { createOnce } from '../../src/once/create-envelope.ts';
import { createNow } from '../../src/once/create-now.ts';
import type { Actor } from './actor.ts';
import { sendList } from './run-actor.ts';

const ADA = { email: 'ada@example.com', name: 'Ada' };

/** `envelopes create --request-id order-1 --send`, on every machine. */
export const createWithId: Actor = async ({ client, memory, signal }) => {
  const body = createBody({ templateId: 'tmpl_1', signers: [ADA], send: true }, 'order-1');
  const { envelope } = await createOnce(client, body, { memory, signal });
  return { sent: [envelope.id] };
};

/** `envelopes create --send` without a request ID. Each machine sends its own envelope. */
export const createWithoutId: Actor = async ({ name, client, memory, signal }) => {
  const signers = [{ email: `${name.toLowerCase()}@example.com`, name }];
  const body = createBody({ templateId: 'tmpl_1', signers, send: true }, newRequestId());
  const { envelope } = await createNow(client, body, { memory, signal });
  return { sent: [envelope.id] };
};

/** The actors by the names that `npm run explore -- --actor` takes. */
export const ACTORS: Readonly<Record<string, Actor>> = {
  create: createWithId,
  'create-without-id': createWithoutId,
  run: sendList,
};
