import type { ServerResponse } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { openCommand, type Screen } from '../support/pty.ts';
import { json, type SeenRequest } from '../support/server.ts';

/* What a person sees on a terminal while a command works, and that it leaves no trace. */
const home = new Home();
const PAGES = 4;

function open(args: readonly string[], env: Record<string, string> = {}, columns = 80): Screen {
  return openCommand(home, args, { env, columns });
}

function answer(request: SeenRequest, response: ServerResponse): void {
  const [, id] = /esign\/\w+\/([^/]+)/.exec(request.path) ?? [];
  const envelope = (i: number) => ({ id: `env_${i}`, status: 'SENT', templateId: 'tmpl_1', signers: [] });
  if (request.path.endsWith('/envelopes') && request.method === 'GET')
    answerPage(request, response, PAGES * 100, envelope);
  else json(response, 200, { data: { ...envelope(0), id: id ?? 'env_new', name: 'Lease' } });
}

/** A service that holds back its responses, or those to some requests, until it is released. */
async function slowService(isHeld: (request: SeenRequest) => boolean = () => true) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const service = await fakeService((request, response) => {
    void (isHeld(request) ? released : Promise.resolve()).then(() => answer(request, response));
  });
  const { env, server } = service;
  const host = server.origin.replace('http://', '');
  return {
    host,
    env,
    release,
    open: (line: string, more = {}) => open(line.split(' '), { ...env, ...more }),
  };
}

describe('a slow service', () => {
  it.each([
    ['envelopes list', 'Waiting for '],
    [
      'envelopes create --template tmpl_1 --signer Ada<ada@example.com> --send',
      'Sent; waiting for a response from ',
    ],
  ])('is shown, and the line is cleared before the first output: %s', async (line, shown) => {
    const service = await slowService(({ method }) => line === 'envelopes list' || method !== 'GET');
    const screen = service.open(line);
    await screen.shows(`${shown}${service.host}`);
    service.release();
    await screen.ended;
    expect(screen.text()).not.toContain('aiting for');
    expect(screen.text()).not.toBe('');
  });

  it('is one line on a narrow terminal', async () => {
    const service = await slowService(({ query }) => query.get('page') === '3');
    const screen = open(['report'], service.env, 24);
    await screen.shows('Listing');
    expect(screen.text().trim().split('\n')).toHaveLength(1);
    service.release();
    await screen.ended;
  });

  it('shows the elapsed seconds after three seconds', { tags: ['full'] }, async () => {
    const service = await slowService();
    const screen = service.open('envelopes get env_1');
    // A slow machine can skip a second.
    const counted = new RegExp(`Waiting for ${service.host} … ([3-9]|\\d{2}) s`);
    await eventually(() => expect(screen.text()).toMatch(counted));
    service.release();
    await screen.ended;
    expect(screen.raw()).not.toMatch(/… [0-2] s/);
  });

  it('is shown next to JSON in a pipe, and keeps JSON intact on the terminal', async () => {
    const service = await slowService();
    const screen = service.open('envelopes list --all --json');
    await screen.shows(`Waiting for ${service.host}`);
    service.release();
    await screen.ended;
    const text = screen.raw().replaceAll(/\r\u001b\[2K(?:[^\r]*Waiting for[^\r]*)?/g, '');
    expect(parseJson(text)).toHaveLength(PAGES * 100);
  });

  it.each(['TERM=dumb', 'ESIGN_NO_SPINNER=1'])('is one plain line with %s', async (variable) => {
    const [name = '', value = ''] = variable.split('=');
    const service = await slowService();
    const screen = service.open('envelopes get env_1', { [name]: value });
    await screen.shows('Waiting for ');
    service.release();
    await screen.ended;
    expect(screen.raw().split('Waiting for')).toHaveLength(2);
    expect(screen.raw()).toMatch(/^Waiting for [\d.:]+\.\r\n/);
  });

  it('leaves nothing on the screen when it is stopped, and has no color with NO_COLOR', async () => {
    const service = await slowService();
    const screen = service.open('envelopes get env_1', { NO_COLOR: '1' });
    await screen.shows('Waiting for ');
    screen.type('\u0003');
    expect(await screen.ended).toMatchObject({ signal: 2 });
    expect(screen.text()).not.toContain('Waiting for');
    expect(screen.raw()).not.toMatch(COLORS);
  });

  it('is shown once while a key command runs, without erasing its prompt', async () => {
    const { host } = await slowService();
    const url = `http://${host}/api/v1`;
    const command = 'printf "PIN? " >&2; read pin; echo $pin';
    await home.run(argv`profiles add asks --no-verify --base-url ${url} --api-key-command ${command}`);
    const screen = open(['envelopes', 'get', 'env_1', '-p', 'asks']);
    await screen.shows('Waiting for the API key');
    expect(screen.raw().split('Waiting')).toHaveLength(2);
    expect(screen.raw()).not.toContain('\u001b[2K');
    screen.type('sk_1\r');
    await screen.shows(`Waiting for ${host}`);
    screen.type('\u0003');
    expect(await screen.ended).toMatchObject({ signal: 2 });
  });
});

/** Sequences that move the cursor, erase, or switch the screen. */
const MOVES = /\u001b\[[?\d;]*[A-HJKhlsu]/;
const COLORS = /\u001b\[[\d;]*m/;

describe('progress and color', () => {
  const account = new Home();
  let id = '';
  beforeAll(async () => {
    await account.sandbox();
    id = String((await account.object`envelopes create --template tmpl_nda --signer a@b.c --send`).id);
  });

  it('is printed as plain lines with ESIGN_NO_SPINNER, and is animated otherwise', async () => {
    const watch = ['envelopes', 'watch', id, '--timeout', '1s'];
    const [plain, animated] = [
      open(watch, { ...account.env, ESIGN_NO_SPINNER: '1' }),
      open(watch, account.env),
    ];
    expect([(await plain.ended).code, (await animated.ended).code]).toEqual([124, 124]);
    expect(plain.text()).toContain('SENT');
    expect(plain.raw()).not.toMatch(MOVES);
    expect(animated.raw()).toMatch(MOVES);
  });

  it('adds no information: without color, a page has the same text', { tags: ['full'] }, async () => {
    for (const line of [
      'envelopes list',
      'templates get tmpl_lease',
      'profiles show',
      `envelopes get ${id}`,
    ]) {
      const [colored, plain] = [
        open(line.split(' '), { ...account.env, FORCE_COLOR: '1' }),
        open(line.split(' '), { ...account.env, NO_COLOR: '1' }),
      ];
      await Promise.all([colored.ended, plain.ended]);
      const timeless = (text: string) => text.replace(/just now|(\d+|a) seconds? ago/g, 'seconds ago');
      expect(timeless(stripVTControlCharacters(colored.raw()))).toBe(timeless(plain.raw()));
      expect(plain.raw()).not.toMatch(COLORS);
    }
  });

  it('is used in a pipe only if forced, and never against NO_COLOR', async () => {
    const colorsWith = async (env: Record<string, string>) => {
      const [get, fails] = [
        await account.run(['envelopes', 'get', id], { env }),
        await account.run(['envelopes', 'get'], { env }),
      ];
      return [COLORS.test(get.stdout), COLORS.test(fails.stderr)];
    };
    expect(await colorsWith({})).toEqual([false, false]);
    expect(await colorsWith({ FORCE_COLOR: '1' })).toEqual([true, true]);
    expect(await colorsWith({ FORCE_COLOR: '0' })).toEqual([false, false]);
    expect(await colorsWith({ FORCE_COLOR: '1', NO_COLOR: '1' })).toEqual([false, false]);
  });

  it.each([
    [{ NO_COLOR: '1' }, false],
    [{}, true],
  ])('is used in prompts, too, with %j: %j', async (env, isThere) => {
    const screen = open(['envelopes', 'create', '--template', 'tmpl_nda'], { ...account.env, ...env });
    await screen.shows('? Signer');
    screen.type('\u0003');
    await screen.ended;
    expect(COLORS.test(screen.raw())).toBe(isThere);
  });
});
