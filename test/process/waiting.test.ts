import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { COMMAND, Home } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { answerPage, type FakeService, fakeService } from '../support/fake-service.ts';
import { openScreen } from '../support/pty.ts';
import { json, type SeenRequest } from '../support/server.ts';

/* Anything that takes longer than half a second shows progress on a terminal, and leaves no trace. */
const home = new Home();
/** Longer than that. */
const SLOW_MS = 900;
const PAGES = 4;
const services: FakeService[] = [];
afterAll(async () => {
  await home.close();
  for (const { server } of services) await server.close();
});

const envelope = (i: number) => ({
  id: `env_${i}`,
  status: 'SENT',
  templateId: 'tmpl_1',
  templateName: 'Lease',
  signers: [],
});

function answer(request: SeenRequest, response: ServerResponse): void {
  const [, id] = /esign\/\w+\/([^/]+)/.exec(request.path) ?? [];
  if (request.path.endsWith('/templates')) answerPage(request, response, 1, () => ({ id: 'tmpl_1' }));
  else if (request.path.endsWith('/envelopes') && request.method === 'GET')
    answerPage(request, response, PAGES * 100, envelope);
  else json(response, 200, { data: { ...envelope(0), id: id ?? 'env_new', name: 'Lease' } });
}

/** A service that holds back its responses, or those to some requests, until it is released. */
async function slowService(isHeld: (request: SeenRequest) => boolean = () => true) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { ...(await serviceThat((request) => (isHeld(request) ? released : Promise.resolve()))), release };
}

/** A service whose response to a request comes when the promise resolves. */
async function serviceThat(isReady: (request: SeenRequest) => Promise<unknown>) {
  const service = await fakeService((request, response) => {
    void isReady(request).then(() => answer(request, response));
  });
  services.push(service);
  const [file, ...before] = COMMAND;
  return {
    host: service.server.origin.replace('http://', ''),
    env: service.env,
    open: (args: string[], env: Record<string, string> = {}) =>
      openScreen(file, [...before, ...args], { env: { ...home.env, ...service.env, ...env } }),
  };
}

/** Returns a function that opens `envelopes get` with a profile that runs a key command. */
function keyCommands(host: string) {
  const [file, ...before] = COMMAND;
  return async (command: string) => {
    const name = `key${nextProfile++}`;
    const url = `http://${host}/api/v1`;
    await home.run(argv`profiles add ${name} --no-verify --base-url ${url} --api-key-command ${command}`);
    return openScreen(file, [...before, ...argv`envelopes get env_1 -p ${name}`], { env: home.env });
  };
}
let nextProfile = 1;

const CREATE = 'envelopes create --template tmpl_1 --signer Ada<ada@example.com> --send';
const commands = [
  { line: 'envelopes list', says: 'Waiting for ', tags: [] },
  { line: 'envelopes get env_1', says: 'Waiting for ' },
  { line: 'templates get tmpl_1', says: 'Waiting for ' },
  { line: 'templates list', says: 'Waiting for ' },
  { line: CREATE, says: 'Sent; waiting for a response from ', tags: [] },
  { line: 'envelopes send env_1', says: 'Sent; waiting for a response from ' },
  { line: 'doctor', says: 'Waiting for ' },
  { line: 'api /esign/envelopes/env_1', says: 'Waiting for ' },
];

describe('a slow service', () => {
  for (const { line, says, tags = ['full'] } of commands)
    it.concurrent(`${line} shows that it is waiting, and clears the line before the first output`, {
      tags,
    }, async () => {
      const { open, host, release } = await slowService(
        ({ method }) => !says.startsWith('Sent') || method !== 'GET',
      );
      const screen = open(line.split(' '));
      await screen.shows(`${says}${host}`);
      release();
      await screen.ended;
      expect(screen.text()).not.toContain('aiting for');
      expect(screen.text()).not.toBe('');
    });

  it('is shown while the sandbox reads a long seed, and cleared before its command starts', async () => {
    const envelopes = Array.from({ length: 3_000 }, (_, i) => `  - {id: env_${i}, status: SENT}\n`);
    await writeFile(home.path('long.yaml'), `envelopes:\n${envelopes.join('')}`);
    const { open } = await slowService();
    const screen = open(['sandbox', 'exec', '--seed', home.path('long.yaml'), '--', 'echo', 'done']);
    await screen.ended;
    expect(screen.raw()).toContain('Reading the seed');
    expect(screen.text().trim()).toBe('done');
  });

  it('is counted in seconds from the third one', async () => {
    const { open, host, release } = await slowService();
    const screen = open(['envelopes', 'get', 'env_1']);
    // A slow machine can skip a second.
    const counted = new RegExp(`Waiting for ${host} … ([3-9]|\\d{2}) s`);
    await eventually(() => expect(screen.text()).toMatch(counted));
    release();
    await screen.ended;
    expect(screen.text()).not.toContain('Waiting for');
    expect(screen.raw()).not.toMatch(/… [0-2] s/);
  });

  it('is a single wait over many pages, even if each is fast', { tags: ['full'] }, async () => {
    const { open, host } = await serviceThat(() => sleep(300));
    const screen = open(['envelopes', 'list', '--template', 'tmpl_other', '--all']);
    await screen.ended;
    expect(screen.raw()).toContain(`Waiting for ${host}`);
    expect(screen.text()).not.toContain('Waiting for');
  });

  it('shows the wait next to JSON in a pipe, and keeps JSON intact on the terminal', async () => {
    const { open, host, release } = await slowService();
    const screen = open(['envelopes', 'list', '--all', '--json']);
    await screen.shows(`Waiting for ${host}`);
    release();
    await screen.ended;
    const text = screen.raw().replaceAll(/\r\u001b\[2K(?:[^\r]*Waiting for[^\r]*)?/g, '');
    expect(parseJson(text)).toHaveLength(PAGES * 100);
  });

  it.each([
    ['TERM=dumb', { TERM: 'dumb' }, []],
    ['--no-spinner', {}, ['--no-spinner']],
  ])('prints one plain line with %s', async (_, env, flags) => {
    const { open, host, release } = await slowService();
    const screen = open(['envelopes', 'get', 'env_1', ...flags], env);
    await screen.shows('Waiting for ');
    release();
    await screen.ended;
    expect(screen.text().split('\n')[0]).toBe(`Waiting for ${host}.`);
    expect(screen.raw().split('Waiting for')).toHaveLength(2);
    expect(screen.raw()).toMatch(/^Waiting for [\d.:]+\.\r\n/);
  });

  it('has no color with NO_COLOR', async () => {
    const { open, host, release } = await slowService();
    const screen = open(['envelopes', 'get', 'env_1'], { NO_COLOR: '1' });
    await screen.shows(`Waiting for ${host}`);
    release();
    await screen.ended;
    expect(screen.text()).not.toContain('Waiting for');
    expect(screen.raw()).not.toMatch(/\u001b\[\d*m/);
  });

  it('shows nothing if stderr is not a terminal', async () => {
    const { env, release } = await slowService();
    const run = home.run(argv`envelopes get env_1`, { env });
    await sleep(SLOW_MS);
    release();
    expect((await run).stderr).toBe('');
  });

  it('is the wait for a key command, which is shown once and leaves its prompt alone', async () => {
    const { host } = await slowService();
    const getWithKeyFrom = keyCommands(host);
    const screen = await getWithKeyFrom('printf "PIN? " >&2; read pin; echo $pin');
    await screen.shows('Waiting for the API key');
    await sleep(SLOW_MS);
    expect(screen.raw().split('Waiting')).toHaveLength(2);
    expect(screen.raw()).not.toContain('\u001b[2K');
    screen.type('sk_1\r');
    await screen.shows(`Waiting for ${host}`);
    screen.type('\u0003');
    await screen.ended;
    const stopped = await getWithKeyFrom('read pin');
    await stopped.shows('Waiting for the API key');
    stopped.type('\u0003');
    expect(await stopped.ended).toMatchObject({ signal: 2 });
  });

  it('is stopped by Ctrl-C even if only the end of the key command shows it', async () => {
    const { host } = await slowService();
    const getWithKeyFrom = keyCommands(host);
    const screen = await getWithKeyFrom('kill -INT $$');
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(screen.text()).toBe('');
  });

  it("doesn't interfere with commands that show their own progress", { tags: ['full'] }, async () => {
    const watched = await slowService();
    const screen = watched.open(['envelopes', 'watch', 'env_1', '--until', 'SENT']);
    await sleep(2 * SLOW_MS);
    watched.release();
    await screen.ended;
    const created = await slowService();
    const create = created.open(['envelopes', 'create']);
    await create.shows('Reading templates and recent envelopes');
    await sleep(SLOW_MS);
    created.release();
    await create.shows('? Template');
    create.type('\u0003');
    await create.ended;
    expect(screen.raw() + create.raw()).not.toContain('Waiting for 127');
  });

  it('leaves nothing on the screen when it is stopped', async () => {
    const { open } = await slowService();
    const screen = open(['envelopes', 'get', 'env_1']);
    await screen.shows('Waiting for ');
    screen.type('\u0003');
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(screen.text()).not.toContain('Waiting for');
  });
});
