import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ownSecret } from '../../../src/commands/envelopes/create/webhook-secret.ts';
import type { EnvelopeInput } from '../../../src/envelopes/create.ts';
import { NetworkError, ServiceError } from '../../../src/kernel/errors.ts';
import { readWebhookSecrets } from '../../../src/profiles/webhook-secrets.ts';
import { fakeClock } from '../../support/clock.ts';

const wanted: EnvelopeInput = {
  templateId: 'tmpl_1',
  signers: [{ email: 'ada@example.com', name: 'Ada' }],
  webhookUrl: 'https://x.example/hook',
};
const context = {
  session: {
    clock: fakeClock(),
    settings: () => Promise.resolve({ baseUrl: { value: 'https://x.example/v1' } }),
  },
  terminal: { notice: () => undefined, redactor: { add: () => undefined } },
};
const lost = () => new NetworkError('NETWORK', 'the reply was lost', { maybeReceived: true });
const refused = () => new ServiceError('QUOTA_EXCEEDED', 'no envelopes left', { status: 402 });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-secret-'));
  vi.stubEnv('ESIGN_CONFIG_DIR', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** Creates with the webhook secret that is sent, or fails; returns the secret. */
async function create(requestId: string, error?: Error): Promise<string | undefined> {
  const own = await ownSecret(wanted, requestId, context);
  await (error ? own?.discard(error) : own?.link('env_1'));
  return own?.secret;
}

it('sends the same webhook secret again after a lost response, and links it to the envelope', async () => {
  const first = await create('req-1', lost());
  expect(first).toMatch(/^whsec_/);
  expect(await create('req-1')).toBe(first);
  expect(await readWebhookSecrets(folder)).toMatchObject([{ secret: first, envelopeId: 'env_1' }]);
  expect(await create('req-2')).not.toBe(first);
});

it('stores no webhook secret for an envelope that the service refused', async () => {
  await create('req-1', refused());
  expect(await readWebhookSecrets(folder)).toEqual([]);
});

it('keeps the webhook secret when a retry after a lost response is refused', async () => {
  const first = await create('req-1', lost());
  await create('req-1', refused());
  expect(await readWebhookSecrets(folder)).toMatchObject([{ secret: first }]);
});
