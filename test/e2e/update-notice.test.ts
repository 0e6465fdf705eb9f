import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { COMMAND, Home, PACKAGE } from '../support/cli.ts';
import { openScreen } from '../support/pty.ts';
import { json, portOf, startServer, type TestServer } from '../support/server.ts';

const NEWER = '999.1.0';
const NOTICE = `esign ${NEWER} is available`;
const HOUR = 60 * 60_000;

let home: Home;
let registry: TestServer;
/** Makes npm, and so esign, use the test's registry. */
let env: Record<string, string>;
beforeEach(async () => {
  home = new Home();
  registry = await startServer((_request, response) => json(response, 200, { version: NEWER }));
  env = {
    npm_config_registry: `${registry.origin}/npm/`,
    ESIGN_NO_UPDATE_NOTICE: '',
  };
});
afterEach(async () => {
  await until(async () => !(await isInUse()));
  await registry.close();
  await home.close();
});

/** Returns true if a process in the background still uses the home. Only Linux can tell. */
async function isInUse(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const variables = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
  );
  return variables.some((text) => text.includes(home.folder));
}

/** Runs `profiles list` on a terminal and returns its output. */
async function atTerminal(more: Record<string, string> = {}, args = ['profiles', 'list']): Promise<string> {
  const [file, ...before] = COMMAND;
  const screen = openScreen(file, [...before, ...args], {
    env: { ...home.env, ...env, ...more },
    columns: 200,
  });
  await screen.ended;
  return screen.text();
}

const recordFile = () => home.path('state', 'update.json');

async function record(): Promise<Record<string, unknown>> {
  const read = parseJson(await readFile(recordFile(), 'utf8'));
  return isRecord(read) ? read : {};
}

async function known(facts: Record<string, unknown>): Promise<void> {
  await mkdir(home.path('state'), { recursive: true });
  await writeFile(recordFile(), JSON.stringify(facts));
}

/** The background process is not our child, so the test waits for its output. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 25));
}

describe('the notice of a newer version', () => {
  it('is fetched in the background of one run, shown by the next, and only once', async () => {
    expect(await atTerminal()).not.toContain('is available');
    await until(async () => (await record()).latest === NEWER);
    expect(await atTerminal()).toContain(NOTICE);
    expect(await atTerminal()).not.toContain('is available');
    expect(registry.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /npm/esign-cli/latest',
    ]);
    expect(Object.keys(registry.seen[0]?.headers ?? {}).sort()).toEqual(['accept', 'connection', 'host']);
  });

  it('is shown again after a day, and not for an older or the same version', async () => {
    const now = Date.now();
    await known({ askedAt: now, latest: NEWER, toldAt: now - 25 * HOUR });
    expect(await atTerminal()).toContain(NOTICE);
    await known({ askedAt: now, latest: '0.0.1' });
    expect(await atTerminal()).not.toContain('is available');
    expect(registry.seen).toEqual([]);
  });

  it.each([
    ['ESIGN_NO_UPDATE_NOTICE', { ESIGN_NO_UPDATE_NOTICE: '1' }],
    ['CI', { CI: 'true' }],
  ])('is disabled by %s', async (_name, off) => {
    await known({ latest: NEWER });
    expect(await atTerminal(off)).not.toContain('is available');
    expect(await record()).toEqual({ latest: NEWER });
  });

  it('is disabled by --json and by setting', async () => {
    await known({ latest: NEWER });
    expect(await atTerminal({}, ['profiles', 'list', '--json'])).not.toContain('is available');
    await mkdir(home.path('config'), { recursive: true });
    await writeFile(home.path('config', 'settings.json'), '{"updateNotice": false}');
    expect(await atTerminal()).not.toContain('is available');
    expect(await record()).toEqual({ latest: NEWER });
  });

  it('never causes an error: no writable folder, an invalid record', async () => {
    await mkdir(home.path('state'), { recursive: true });
    await writeFile(recordFile(), '{"latest": "9.9.9\\u001b[31m", "askedAt"');
    expect(await atTerminal()).not.toContain('9.9.9');
    await writeFile(home.path('file'), '');
    expect(await atTerminal({ ESIGN_STATE_DIR: home.path('file', 'no') })).not.toMatch(
      /is available|Error|ENOTDIR/,
    );
  });
});

describe('the registry check', () => {
  const ask = async (more: Record<string, string> = {}) => {
    const finished = await home.run(['__update'], { env: { ...env, ...more } });
    expect(finished).toMatchObject({ code: 0, stdout: '', stderr: '' });
    return existsSync(recordFile()) ? (await record()).latest : undefined;
  };

  it('accepts only release versions', { tags: ['full'] }, async () => {
    const replies: unknown[] = [{ version: '9.9.9\u001b[31m' }, { version: '2.0.0-beta.1' }, [], 'no', null];
    await registry.close();
    registry = await startServer((_request, response, number) => json(response, 200, replies[number - 1]));
    env.npm_config_registry = registry.origin;
    for (const _reply of replies) expect(await ask()).toBeUndefined();
    expect(registry.seen).toHaveLength(replies.length);
  });

  it('is silent without a registry or npm, and after an error, too much data, or a timeout', {
    tags: ['full'],
  }, async () => {
    expect(await ask({ npm_config_registry: 'http://127.0.0.1:9/' })).toBeUndefined();
    await registry.close();
    registry = await startServer((_request, response, number) =>
      number === 1
        ? json(response, 500, { version: NEWER })
        : json(response, 200, { version: NEWER, more: 'x'.repeat(300_000) }),
    );
    env.npm_config_registry = registry.origin;
    expect(await ask()).toBeUndefined();
    expect(await ask()).toBeUndefined();
    expect(registry.seen).toHaveLength(2);
    const [node] = COMMAND;
    if (node.startsWith('/')) expect(await ask({ PATH: '/nowhere' })).toBeUndefined();
    const hanging = createServer().listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const port = portOf(hanging);
    expect(await ask({ npm_config_registry: `http://127.0.0.1:${port}/` })).toBeUndefined();
    hanging.close();
  });
});

// NODE_OPTIONS, which the test uses to watch it, doesn't apply to standalone executables.
describe.skipIf(PACKAGE === undefined)('the connections and processes of a run', () => {
  /** Records each connection and process that a run starts. */
  const watched = async () => {
    const hook = home.path('watch.cjs');
    const log = home.path('opened.log');
    await writeFile(log, '');
    await writeFile(
      hook,
      `const note = (what) => require('node:fs').appendFileSync(${JSON.stringify(log)}, what + '\\n');
       const { Socket } = require('node:net');
       const { connect } = Socket.prototype;
       Socket.prototype.connect = function (...args) { note('socket'); return connect.apply(this, args); };
       const { ChildProcess } = require('node:child_process');
       const { spawn } = ChildProcess.prototype;
       ChildProcess.prototype.spawn = function (options) { note('process'); return spawn.call(this, options); };`,
    );
    const opened = async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean);
    return { options: { NODE_OPTIONS: `--require ${hook}` }, opened };
  };

  it('are absent in a pipe, even if a check is due', async () => {
    await known({ latest: NEWER, askedAt: 0 });
    const { options, opened } = await watched();
    const { code, stderr } = await home.run(argv`profiles list`, { env: { ...env, ...options } });
    expect(code).toBe(0);
    expect(stderr).not.toContain('is available');
    expect(await opened()).toEqual([]);
    expect(await record()).toEqual({ latest: NEWER, askedAt: 0 });
  });

  it('are one process and no own connection on a terminal', async () => {
    const { options, opened } = await watched();
    await atTerminal(options);
    // The first line is the run's own; the process that it started is watched as well.
    await until(async () => (await opened()).length > 0);
    expect((await opened())[0]).toBe('process');
    await until(async () => (await record()).latest === NEWER);
  });
});
