import { afterEach, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { startSandbox } from '../../src/sandbox/embed.ts';
import type { RunningSandbox } from '../../src/sandbox/embed-model.ts';
import type { StartSandboxOptions } from '../../src/sandbox/embed-options.ts';
import { startServer, type TestServer } from '../support/server.ts';

const AT = '2030-05-01T09:00:00.000Z';
const COUNTED: StartSandboxOptions = { ids: 'counted', clock: { at: AT, frozen: true } };
let open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
});

async function start(options: StartSandboxOptions): Promise<RunningSandbox> {
  const sandbox = await startSandbox(options);
  open.push(sandbox);
  return sandbox;
}

async function receiver(): Promise<TestServer> {
  const server = await startServer((_request, response) => void response.writeHead(200).end());
  open.push(server);
  return server;
}

async function create(sandbox: RunningSandbox, more: Record<string, unknown> = {}) {
  const signers = [
    { name: 'Ada', email: 'ada@example.com' },
    { name: 'Bob', email: 'bob@example.com' },
  ];
  const reply = await fetch(`${sandbox.baseUrl}/esign/envelopes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ templateId: 'tmpl_lease', signers, sendImmediately: true, ...more }),
  });
  const body = parseJson(await reply.text());
  if (!isRecord(body) || !isRecord(body.data)) throw new Error(`no envelope: ${reply.status}`);
  return { date: reply.headers.get('date'), text: JSON.stringify(body.data), id: body.data.id };
}

describe('a sandbox with counted IDs', () => {
  it('gives the same responses, emails, and deliveries in each run', async () => {
    const once = async () => {
      const sandbox = await start(COUNTED);
      const { origin, seen } = await receiver();
      const made = [await create(sandbox, { webhookUrl: origin }), await create(sandbox)];
      await sandbox.sign('env_1');
      const mails = JSON.stringify(await sandbox.mails());
      const deliveries = JSON.stringify((await sandbox.deliveries()).map(({ id, event }) => [id, event]));
      const all = [...made.map(({ text }) => text), mails, deliveries, ...seen.map(({ body }) => body)].join(
        '\n',
      );
      return all.replaceAll(new URL(sandbox.baseUrl).origin, 'SANDBOX').replaceAll(origin, 'RECEIVER');
    };
    const first = await once();
    expect(first).toBe(await once());
    const ids = new Set(first.match(/\b(env|signer|mail|dlv|org)_\w+/g));
    expect([...ids].filter((id) => !/_\d+$/.test(id))).toEqual([]);
    expect([...ids]).toEqual(
      expect.arrayContaining(['env_1', 'env_2', 'signer_1', 'signer_4', 'mail_1', 'dlv_1']),
    );
  });

  it('numbers the signers and emails of the seed, and keeps their numbers if it is loaded again', async () => {
    const envelope = { id: 'env_7', status: 'SENT' as const, signers: [{ name: 'Cy' }] };
    const sandbox = await start({ ...COUNTED, seed: { envelopes: [envelope] } });
    await create(sandbox);
    const shown = async () => {
      const people = (await sandbox.envelopes()).flatMap(({ signers }) => signers.map(({ id }) => id));
      return [...people, ...(await sandbox.mails()).map(({ id }) => id)].sort();
    };
    const before = ['mail_1', 'mail_2', 'mail_3', 'signer_1', 'signer_2', 'signer_3'];
    expect(await shown()).toEqual(before);
    await sandbox.seed({ envelopes: [envelope] });
    expect(await shown()).toEqual(before);
    await sandbox.reset();
    expect(await shown()).toEqual(['mail_1', 'signer_1']);
  });

  it('skips IDs of the seed, including a later one', async () => {
    const sandbox = await start({ ...COUNTED, seed: { envelopes: [{ id: 'env_1' }, { id: 'env_3' }] } });
    expect([(await create(sandbox)).id, (await create(sandbox)).id]).toEqual(['env_2', 'env_4']);
    await sandbox.seed({ envelopes: [{ id: 'env_5' }] });
    expect((await create(sandbox)).id).toBe('env_6');
  });

  it('counts from the start after a reset, and continues after a snapshot', async () => {
    const sandbox = await start(COUNTED);
    await create(sandbox);
    await sandbox.snapshot('one');
    await create(sandbox);
    await sandbox.restore('one');
    const next = await create(sandbox);
    expect(next.id).toBe('env_2');
    expect(next.text).toContain('"signer_3"');
    await sandbox.reset();
    const again = await create(sandbox);
    expect(again.id).toBe('env_1');
    expect(again.text).toContain(AT);
  });
});

it.each([[null], [5], ['sk_1'], [[]]])('options of %j are refused', async (options) => {
  const started: unknown = Reflect.apply(startSandbox, undefined, [options]);
  await expect(started).rejects.toMatchObject({ code: 'USAGE' });
});

describe('a frozen clock', () => {
  it('moves only with advance', async () => {
    const sandbox = await start({ clock: { at: AT, frozen: true } });
    const before = await create(sandbox, { expiresInDays: 1 });
    expect(before.text).toContain(`"createdAt":"${AT}"`);
    expect(before.date).toBe(new Date(AT).toUTCString());
    expect(await sandbox.advance('2d')).toBe('2030-05-03T09:00:00.000Z');
    expect((await create(sandbox)).text).toContain('"createdAt":"2030-05-03T09:00:00.000Z"');
    const events = (await sandbox.mails({ envelope: String(before.id) })).map(({ kind }) => kind);
    expect(events).toContain('expired');
  });

  it('refuses an invalid clock or kind of IDs', async () => {
    const refused = (options: object) =>
      expect(startSandbox(options)).rejects.toMatchObject({ code: 'USAGE' });
    await refused({ clock: { at: 'soon' } });
    await refused({ clock: { when: AT } });
    await refused({ clock: '+275760-09-13T00:00:00Z' });
    await refused({ clock: { at: new Date('1900-01-01') } });
    await refused({ clock: null });
    await refused({ ids: 'short' });
  });
});
