import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { provideEnvelopeSecret } from '../../../src/envelopes/commands/create/webhook-secret.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { isRecord, parseJson } from '../../../src/kernel/json.ts';
import { ProcessMemory } from '../../../src/log/write-memory.ts';
import { createBody, type EnvelopeInput } from '../../../src/once/create-body.ts';
import { createOnce } from '../../../src/once/create-envelope.ts';
import { readWebhookSecrets } from '../../../src/settings/webhook-secrets.ts';
import { clientFor } from '../../support/client.ts';
import { fakeClock } from '../../support/clock.ts';
import { newFolder } from '../../support/folder.ts';
import { gateFor, memoryOf } from '../../support/recording.ts';
import { json, startServer, type TestServer } from '../../support/server.ts';

const wanted: EnvelopeInput = {
  templateId: 'tmpl_1',
  signers: [{ email: 'ada@example.com', name: 'Ada' }],
  webhookUrl: 'https://x.example/hook',
};
const notices: string[] = [];
const context = {
  session: {
    clock: fakeClock(),
    baseUrl: () => Promise.resolve('https://x.example/v1'),
  },
  terminal: {
    notice: (text: string) => {
      notices.push(text);
    },
    redactor: { add: () => undefined },
  },
};

let [config, state] = ['', ''];
/** The statuses of the next creates. All others are 201. */
let answers: number[] = [];
/** The secrets of the envelopes at the service. */
let received: unknown[] = [];
let server: TestServer;

beforeEach(async () => {
  [config, state] = [newFolder(), newFolder()];
  [answers, received] = [[], []];
  notices.length = 0;
  vi.stubEnv('ESIGN_CONFIG_DIR', config);
  const stored: Record<string, unknown>[] = [];
  server = await startServer((request, response) => {
    const found = stored.find(({ id }) => request.path.includes(`/${String(id)}`));
    if (request.path.endsWith('/cancel') && found) found.status = 'CANCELLED';
    else if (request.method === 'POST') {
      const status = answers.shift() ?? 201;
      if (status !== 201) return json(response, status, { error: { code: 'QUOTA_EXCEEDED', message: 'no' } });
      const body = parseJson(request.body);
      if (!isRecord(body)) throw new Error('no body');
      const { webhookSecret, ...shown } = body;
      received.push(webhookSecret);
      stored.push({ ...shown, id: `env_${stored.length + 1}`, status: 'DRAFT' });
      return json(response, 201, { data: stored.at(-1) });
    }
    if (found) return json(response, 200, { data: found });
    const pagination = { page: 1, pageSize: 100, total: stored.length, totalPages: 1 };
    json(response, 200, { data: stored, meta: { pagination } });
  });
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function recordedClient() {
  const { origin } = server;
  const gate = async () => gateFor(memoryOf(state, systemClock), `${origin}/api/v1`, systemClock);
  return clientFor(origin, { retries: 0, gate });
}

/** Creates an envelope as `envelopes create --request-id` does. Returns the error, if any. */
async function create(requestId: string): Promise<unknown> {
  const client = recordedClient();
  const secret = await provideEnvelopeSecret(wanted, requestId, context);
  try {
    const options = { memory: memoryOf(state, systemClock), secret };
    const { envelope } = await createOnce(client, createBody(wanted, requestId), options);
    await secret?.link(envelope.id);
    return undefined;
  } catch (error) {
    return error;
  }
}

it('stores the secret of the envelope when two processes create it at the same time', async () => {
  await Promise.all([create('req-1'), create('req-1')]);
  expect(new Set(received).size).toBe(1);
  expect(await readWebhookSecrets(config)).toMatchObject([{ secret: received[0], envelopeId: 'env_1' }]);
});

it('gives two processes with the same request ID the same secret', async () => {
  const [first, second] = await Promise.all([
    provideEnvelopeSecret(wanted, 'req-1', context),
    provideEnvelopeSecret(wanted, 'req-1', context),
  ]);
  const secrets = await Promise.all([first?.store(), second?.store()]);
  expect(secrets[0]).toBe(secrets[1]);
  expect(await readWebhookSecrets(config)).toMatchObject([{ secret: secrets[0] }]);
});

it('stores no secret for a draft that does not count, because another machine was first', async () => {
  await Promise.all([
    create('req-1'),
    // The other machine has another secret, and its own log.
    createOnce(
      clientFor(server.origin),
      createBody({ ...wanted, webhookSecret: 'whsec_other_0123456789' }, 'req-1'),
      {
        memory: new ProcessMemory(),
      },
    ),
  ]);
  const counts = received[0];
  const kept = (await readWebhookSecrets(config)).map(({ secret }) => secret);
  expect(kept).toEqual(counts === 'whsec_other_0123456789' ? [] : [counts]);
});

it('stores no new secret for an envelope from another machine', async () => {
  await create('req-1');
  vi.stubEnv('ESIGN_CONFIG_DIR', state);
  await create('req-1');
  expect(received).toHaveLength(1);
  expect(await readWebhookSecrets(state)).toEqual([]);
  expect(notices).toEqual([expect.stringContaining('env_1')]);
});

it('stores a given secret for its envelope, next to a generated one of the same request ID', async () => {
  const generated = await (await provideEnvelopeSecret(wanted, 'req-1', context))?.store();
  const given = await provideEnvelopeSecret(
    { ...wanted, webhookSecret: 'given-0123456789' },
    'req-1',
    context,
  );
  expect(await given?.store()).toBe('given-0123456789');
  await given?.link('env_7');
  expect(await readWebhookSecrets(config)).toMatchObject([
    { requestId: 'req-1', secret: generated },
    { requestId: 'req-1', secret: 'given-0123456789', envelopeId: 'env_7' },
  ]);
});

it('links the secret of a run that was interrupted before it could', async () => {
  const secret = await provideEnvelopeSecret(wanted, 'req-1', context);
  await createOnce(recordedClient(), createBody(wanted, 'req-1'), {
    memory: memoryOf(state, systemClock),
    secret,
  });
  await create('req-1');
  expect(await readWebhookSecrets(config)).toMatchObject([{ secret: received[0], envelopeId: 'env_1' }]);
  expect(notices).toEqual([]);
});

it('sends the same webhook secret again after an unknown outcome, and another one for another envelope', async () => {
  answers = [503, 503, 503, 503];
  await create('req-1');
  const [first] = await readWebhookSecrets(config);
  expect(first?.secret).toMatch(/^whsec_/);
  await create('req-1');
  await create('req-2');
  expect(received).toEqual([first?.secret, expect.not.stringMatching(first?.secret ?? '')]);
  expect(await readWebhookSecrets(config)).toMatchObject([{ envelopeId: 'env_1' }, { envelopeId: 'env_2' }]);
});

it('stores no webhook secret for an envelope that the service refused', async () => {
  answers = [402];
  expect(await create('req-1')).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  expect(await readWebhookSecrets(config)).toEqual([]);
});

it('keeps the webhook secret when a retry after a lost response is refused', async () => {
  answers = [503, 503, 503, 503, 402];
  await create('req-1');
  const kept = await readWebhookSecrets(config);
  await create('req-1');
  expect(await readWebhookSecrets(config)).toMatchObject([{ secret: kept[0]?.secret }]);
});
