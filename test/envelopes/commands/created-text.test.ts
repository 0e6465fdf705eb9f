import { expect, it } from 'vitest';
import { explainCreated } from '../../../src/envelopes/commands/create/created-text.ts';

it('does not mention a request ID if the envelope of an interrupted command without one is found', () => {
  const message = 'The same command was interrupted before.';
  const warning = { code: 'INTERRUPTED_CREATE_FOUND', message } as const;
  expect(explainCreated({ envelope: { id: 'env_1' }, by: 'earlier', warning })).toEqual([message]);
});
