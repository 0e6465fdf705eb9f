import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { Home } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { Assistant } from '../support/mcp.ts';
import { json } from '../support/server.ts';

const home = new Home();
let service: FakeService;
/** The envelopes that were sent. */
const sent: string[] = [];
/** Until then, no envelope is sent. */
let released: Promise<void>;
let release: () => void;

function envelope(id: string) {
  const signers = [{ id: 'signer_1', email: `${id}@example.com`, name: 'Ada', status: 'SENT' }];
  return { id, templateId: 'tmpl_1', status: sent.includes(id) ? 'SENT' : 'DRAFT', signers };
}

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const id = /\/envelopes\/(\w+)/.exec(request.path)?.[1];
    if (id === undefined && request.path.includes('/templates/'))
      return json(response, 200, { data: { id: 'tmpl_1', fields: [] } });
    if (id === undefined) return json(response, 404, { error: { code: 'NOT_FOUND' } });
    if (request.method === 'GET') return json(response, 200, { data: envelope(id) });
    void released.then(() => {
      sent.push(id);
      json(response, 200, { data: envelope(id) });
    });
    return;
  });
  const baseUrl = String(service.env.ESIGN_BASE_URL);
  const input = 'sk_guard_0123456789';
  await home.run(['profiles', 'add', 'acme', '--base-url', baseUrl, '--api-key-file', '-', '--no-verify'], {
    input,
  });
  await home.json`profiles edit acme --max-emails 1`;
});
beforeEach(() => {
  sent.length = 0;
  released = new Promise((resolve) => {
    release = resolve;
  });
});
afterAll(async () => {
  await service.server.close();
  await home.close();
});

async function confirmed(assistant: Assistant, id: string): Promise<Record<string, unknown>> {
  const { reply } = await assistant.call('send', { id, dryRun: true });
  return { id, confirmation: reply.confirmation };
}

/** Lets the service send once the server has read everything so far. */
async function allRead(assistant: Assistant): Promise<void> {
  await assistant.ask('ping');
  release();
}

describe('calls of write tools at the same time', () => {
  it('count as separate commands for the limit of emails', async () => {
    const assistant = await Assistant.start(home, ['--allow-write']);
    const calls = await Promise.all(['env_a', 'env_b', 'env_c'].map((id) => confirmed(assistant, id)));
    const answered = calls.map((call) => assistant.call('send', call));
    await allRead(assistant);
    const results = await Promise.all(answered);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
    expect(sent).toEqual(['env_a', 'env_b', 'env_c']);
    await assistant.end();
  });

  it('are not carried out if the client cancels them before they start', async () => {
    const assistant = await Assistant.start(home, ['--allow-write']);
    const first = await confirmed(assistant, 'env_a');
    const second = await confirmed(assistant, 'env_b');
    const answered = assistant.call('send', first);
    assistant.write({ id: 'second', method: 'tools/call', params: { name: 'send', arguments: second } });
    assistant.write({ method: 'notifications/cancelled', params: { requestId: 'second' } });
    await allRead(assistant);
    expect((await answered).isError).toBe(false);
    expect(await assistant.end()).toBe(0);
    expect(sent).toEqual(['env_a']);
  });
});

describe('a call that the client cancels while it is carried out', () => {
  it('is recorded in the log even if the server is stopped', async () => {
    const assistant = await Assistant.start(home, ['--allow-write']);
    const call = await confirmed(assistant, 'env_late');
    const seen = service.server.seen.length;
    assistant.write({ id: 'late', method: 'tools/call', params: { name: 'send', arguments: call } });
    const isSending = () => service.server.seen.slice(seen).some(({ method }) => method === 'POST');
    await eventually(() => expect(isSending()).toBe(true));
    assistant.write({ method: 'notifications/cancelled', params: { requestId: 'late' } });
    await assistant.ask('ping');
    const stopped = assistant.running.stop('SIGTERM');
    release();
    await stopped;
    const entries = await home.json`log`;
    const last: unknown = isList(entries) ? entries.at(-1) : undefined;
    expect(isRecord(last) && last.outcome).toBe('done');
  });
});
