import { beforeEach, expect, it } from 'vitest';
import { createClient, type NewEnvelope } from '../../src/client/client.ts';
import { createBody } from '../../src/once/create-body.ts';
import { createNow } from '../../src/once/create-now.ts';
import { fakeClock } from '../support/clock.ts';
import { FaultyService } from '../support/faulty-service.ts';
import { newFolder } from '../support/folder.ts';
import { codeOf, killedProcess } from '../support/interrupting.ts';
import { memoryOf } from '../support/recording.ts';

/* A program that was killed, and calls `create` again without a request ID. */

const envelope: NewEnvelope = {
  templateId: 'tmpl_nda',
  signers: [{ email: 'ada@example.com', name: 'Ada' }],
  send: true,
};
// The client has no clock itself.
const clock = fakeClock(Date.now());
let stateDir: string;
let service: FaultyService;
beforeEach(async () => {
  stateDir = newFolder();
  service = await FaultyService.start(clock);
});

const createAgain = (apiKey = 'sk_test_0123456789', change: Partial<NewEnvelope> = {}) =>
  createClient({ baseUrl: service.baseUrl, apiKey, stateDir }).envelopes.create({ ...envelope, ...change });

beforeEach(async () => {
  const { memory, time } = killedProcess(memoryOf(stateDir, clock), clock);
  await codeOf(createNow(service.client(time, memory), createBody(envelope, 'generated-1'), { memory }));
  expect(service.emails).toHaveLength(1);
});

it('gets the envelope of the interrupted call', async () => {
  expect(await createAgain()).toMatchObject({
    kind: 'settled',
    by: 'earlier',
    envelope: { id: 'env_1' },
    warning: { code: 'INTERRUPTED_CREATE_FOUND' },
  });
  expect(service.emails).toHaveLength(1);
});

it.each<[string, () => ReturnType<typeof createAgain>]>([
  ['another key', () => createAgain('sk_other_0123456789')],
  ['another subject', () => createAgain(undefined, { subject: 'Other' })],
])('gets a new one with %s', async (_, again) => {
  expect(await again()).toMatchObject({ by: 'reply', envelope: { id: 'env_2' } });
});
