import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readCommandTree } from '../../src/cli/completion/command-tree.ts';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { mailsIn } from '../support/mails.ts';
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

  it('obey the guards that the profile has when they are carried out', async () => {
    const assistant = await Assistant.start(home, ['--allow-write']);
    const call = await confirmed(assistant, 'env_a');
    await home.json`profiles edit acme --read-only`;
    try {
      release();
      const { reply } = await assistant.call('send', call);
      expect(reply.error).toMatchObject({ code: 'READ_ONLY', outcome: 'none', exitCode: 2 });
      expect(sent).toEqual([]);
    } finally {
      await home.json`profiles edit acme --no-read-only`;
    }
    expect((await assistant.call('send', await confirmed(assistant, 'env_a'))).isError).toBe(false);
    expect(sent).toEqual(['env_a']);
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

describe('the arguments of a tool', () => {
  const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const commandOf: Readonly<Record<string, string>> = {
    find: 'find',
    late: 'late',
    report: 'report',
    templates: 'templates:list',
    verify: 'documents:verify',
  };

  const own = ['id', 'text', 'cursor', 'paths', 'dir', 'dryRun', 'confirmation'];
  /** The arguments of a tool that are not its own, and their descriptions without the form of the value. */
  const derived = ({ inputSchema }: Record<string, unknown>): [string, string][] => {
    const properties =
      isRecord(inputSchema) && isRecord(inputSchema.properties) ? inputSchema.properties : {};
    return Object.entries(properties).flatMap(([name, schema]): [string, string][] =>
      own.includes(name) || !isRecord(schema)
        ? []
        : [[kebab(name), String(schema.description).replace(/ \([^()]*\)$/, '')]],
    );
  };

  it('are flags of the command that does the same, with its descriptions', async () => {
    const { commands } = readCommandTree(join(import.meta.dirname, '../..'));
    const assistant = await Assistant.start(home, ['--allow-write']);
    const tools = await assistant.tools();
    expect(tools.flatMap(derived).length).toBeGreaterThan(30);
    for (const tool of tools) {
      const command = commands[commandOf[String(tool.name)] ?? `envelopes:${String(tool.name)}`];
      for (const [flag, description] of derived(tool))
        expect(command?.flags[flag]?.description, `${String(tool.name)} ${flag}`).toContain(description);
    }
    await assistant.end();
  });
});

describe('with --allow-write', () => {
  const home = new Home();
  let sandbox: Sandbox;
  let writer: Assistant;
  /** An envelope that Maria has not signed, and one that is complete. */
  let open = '';
  let done = '';

  beforeAll(async () => {
    sandbox = await home.sandbox();
    open = await created('Maria Rossi <maria@example.com>', '--send');
    done = await created('Łukasz Nowak <lukasz@example.com>', '--send');
    await home.run`sandbox sign ${done}`;
    writer = await Assistant.start(home, ['--allow-write']);
  });

  const mails = async () => (await mailsIn(sandbox)).length;

  async function created(name: string, ...more: string[]): Promise<string> {
    const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', name, ...more];
    return String((await home.object(words)).id);
  }

  /** The dry run of a call, with its confirmation. */
  async function rehearsed(
    name: string,
    args: Record<string, unknown>,
  ): Promise<[string, Record<string, unknown>]> {
    const { isError, reply, text } = await writer.call(name, { ...args, dryRun: true });
    expect([isError, reply.dryRun, isRecord(reply.data)], text).toEqual([false, true, true]);
    return [String(reply.confirmation), isRecord(reply.data) ? reply.data : {}];
  }

  const signer = ['Bea Conti <bea@example.com>;role=Signer'];

  it.each(['create', 'send', 'remind', 'cancel'])(
    'shows %s first, then executes it once, and sends email',
    async (name) => {
      const args: Record<string, unknown> =
        name === 'create'
          ? { template: 'tmpl_nda', signer, send: true }
          : { id: await created('Bea <bea@example.com>', ...(name === 'send' ? [] : ['--send'])) };
      const before = await mails();
      const [confirmation, would] = await rehearsed(name, args);
      expect(would).toMatchObject({
        effect: 'mails',
        envelope: { signers: [{ email: 'bea@example.com' }] },
      });
      expect(await mails()).toBe(before);
      const refused = { isError: true, reply: { error: { code: 'USAGE', outcome: 'none' } } };
      expect(await writer.call(name, args)).toMatchObject(refused);
      expect(await writer.call(name, { ...args, confirmation: 'confirm-guessed' })).toMatchObject(refused);
      const other = name === 'create' ? { ...args, subject: 'another' } : { ...args, id: open };
      expect(await writer.call(name, { ...other, confirmation })).toMatchObject(refused);
      expect(await mails()).toBe(before);
      const envelope = await writer.data(name, { ...args, confirmation });
      expect(await mails()).toBe(before + 1);
      expect(envelope.status).toBe({ cancel: 'CANCELLED' }[name] ?? 'SENT');
      expect(await writer.call(name, { ...args, confirmation })).toMatchObject(refused);
      expect(await mails()).toBe(before + 1);
    },
  );

  it.each([
    ['create', { template: 'tmpl_lease', signer: ['a@b.c'] }, /No signer has the role/],
    ['send', { id: 'OPEN' }, /is SENT and can't be sent.*esign envelopes get env_\w+ --history/s],
    ['cancel', { id: 'DONE' }, /is COMPLETED and can't be canceled/],
    ['remind', { id: 'DONE' }, /Nobody can be reminded: env_\w+ is COMPLETED/],
  ])("doesn't offer a call that would fail: %s %j", async (name, args, says) => {
    const ids: Record<string, string> = { OPEN: open, DONE: done };
    const id = ids[String(Reflect.get(args, 'id'))];
    const { isError, text, reply } = await writer.call(name, {
      ...args,
      ...(id ? { id } : {}),
      dryRun: true,
    });
    expect([isError, reply.confirmation]).toEqual([true, undefined]);
    expect(text).toMatch(says);
  });

  it('corrects a wrong signer once with replace', async () => {
    const id = await created('Mario <mario@example.com>;role=Signer', '--send');
    const args = { id, signer: ['mario@example.com=Bea Conti <bea@example.com>'] };
    const before = await mails();
    const [confirmation, would] = await rehearsed('replace', args);
    expect(would).toMatchObject({
      action: 'replace: make, cancel, send',
      effect: 'mails',
      envelope: { old: { id }, new: { signers: [{ email: 'bea@example.com', role: 'Signer' }] } },
    });
    expect((await writer.call('replace', args)).isError).toBe(true);
    expect(await mails()).toBe(before);
    const replaced = await writer.data('replace', { ...args, confirmation });
    expect(replaced).toMatchObject({ old: { id, status: 'CANCELLED' }, new: { status: 'SENT' } });
    const after = await mails();
    expect((await writer.call('replace', { ...args, confirmation })).isError).toBe(true);
    expect(await mails()).toBe(after);
    expect((await writer.call('replace', { id: done, subject: 'x', dryRun: true })).reply).toMatchObject({
      error: { code: 'INVALID_STATE' },
    });
  });

  it('reminds nobody twice within a day', async () => {
    const id = await created('Bea <bea@example.com>', '--send');
    const remind = async (more: Record<string, unknown>) => {
      const [confirmation] = await rehearsed('remind', { id, ...more });
      return writer.call('remind', { id, ...more, confirmation });
    };
    expect((await remind({})).isError).toBe(false);
    expect((await remind({})).reply).toMatchObject({ error: { code: 'REMINDED_RECENTLY' } });
    expect((await remind({ minGap: '0s' })).isError).toBe(false);
  });

  it('never creates twice for the same request ID', async () => {
    const args = { template: 'tmpl_nda', signer, requestId: 'deal-7' };
    const ids: unknown[] = [];
    for (let time = 0; time < 2; time++) {
      const [confirmation] = await rehearsed('create', args);
      ids.push((await writer.data('create', { ...args, confirmation })).id);
    }
    expect(ids[0]).toBe(ids[1]);
  });
});
