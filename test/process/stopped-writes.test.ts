import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { Home, jsonLines, type LongRunning, linesOf, OWN_CLOCK } from '../support/cli.ts';
import { openCommand } from '../support/pty.ts';
import { type Relay, relayedSandbox } from '../support/relay.ts';

/* Ctrl-C or SIGTERM during a write: everything that was sent is reported, and nothing is sent twice. */
const home = new Home();
const canUnshare = spawnSync('unshare', ['-Urpf', 'true']).status === 0;
const CREATE = /^POST \/esign\/envelopes$/;
const ACTION = /^POST \/esign\/envelopes\//;
let relay: Relay;

beforeAll(async () => {
  relay = await relayedSandbox(home);
});

const create = (deal: string, ...args: string[]) =>
  `envelopes create --template tmpl_nda --signer Ada<ada@example.com> --metadata deal=${deal}`
    .split(' ')
    .concat(args);
/** Returns all envelopes. Nothing is held up any longer. */
const listed = async () => {
  relay.open();
  const all = await home.json`envelopes list --all`;
  return isList(all) ? all.filter(isRecord) : [];
};
const envelopesOf = async (deal: string) =>
  (await listed()).filter(({ metadata }) => isRecord(metadata) && metadata.deal === deal);
/** Stores this many envelopes, and returns their IDs. */
const stored = async (count: number, status: string) => {
  const ids = Array.from({ length: count }, () => `env_${randomUUID().slice(0, 8)}`);
  const signers = [{ name: 'Ada', email: 'ada@example.com' }];
  const envelopes = ids.map((id) => ({ id, template: 'tmpl_nda', status, signers }));
  await home.control('/seed', { envelopes });
  return ids;
};
const draft = async () => String((await stored(1, 'DRAFT'))[0]);

/** Starts a command, and stops it while the service holds back the response to its request. */
async function stopped(
  args: readonly string[],
  options: { signals?: number; arrived?: number; meanwhile?: (running: LongRunning) => Promise<void> } = {},
) {
  // A second signal ends a process immediately.
  const { signals = 1 } = options;
  const running = signals > 1 ? home.start(args) : home.background(args);
  const printed: string[] = [];
  running.child.stdout?.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  await relay.arrived(options.arrived);
  if (signals > 1) await running.insist();
  else running.child.kill('SIGTERM');
  await options.meanwhile?.(running);
  const { signal } = await running.ended;
  return { signal, stdout: printed.join(''), stderr: await running.stderr };
}

/** Runs the command that a message suggests, unchanged. */
async function runCommandIn(text: string, env: Record<string, string> = {}) {
  const command = /.*`(esign .*?)`/s.exec(text)?.[1];
  if (command === undefined) throw new Error(`no command in ${text}`);
  relay.open();
  return home.shell(command, env);
}

function errorIn(stderr: string): Record<string, unknown> {
  const last = parseJson(linesOf(stderr).at(-1) ?? '');
  if (!isRecord(last) || !isRecord(last.error)) throw new Error(`no error in ${stderr}`);
  return last.error;
}

describe('a stopped create', () => {
  it('waits briefly for the response, prints the envelope, and exits with the signal', async () => {
    relay.hold(CREATE);
    const meanwhile = async (running: LongRunning) => {
      await running.says(/Press Ctrl-C again to quit/);
      relay.open();
    };
    const { stdout, signal } = await stopped(create('reply', '--send'), { meanwhile });
    expect([signal, stdout]).toEqual(['SIGTERM', `${(await envelopesOf('reply'))[0]?.id}\tSENT\n`]);
  });

  it('searches for the request ID if the response takes longer', { tags: ['full'] }, async () => {
    relay.hold(CREATE);
    const { stdout, stderr, signal } = await stopped(create('lookup', '--json'));
    expect(signal).toBe('SIGTERM');
    expect(stderr).toContain('response was lost');
    expect(await envelopesOf('lookup')).toEqual([parseJson(stdout)]);
  });

  it('reports an unknown outcome if the search finds nothing, with a safe command', async () => {
    relay.hold(/ \/esign\/envelopes(\?|$)/);
    const { stdout, stderr, signal } = await stopped(create('unknown', '--json'));
    expect([stdout, signal]).toEqual(['', 'SIGTERM']);
    expect(errorIn(stderr)).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 143 });
    const again = await runCommandIn(String(errorIn(stderr).hint), OWN_CLOCK);
    expect(again.code).toBe(0);
    expect(await envelopesOf('unknown')).toEqual([parseJson(again.stdout)]);
  });

  it('prints the request ID and the command immediately on a second stop, and the command creates no second envelope', async () => {
    relay.hold(CREATE);
    const subject = `Ada's "$HOME"`;
    const { stdout, stderr, signal } = await stopped(
      create('again', '--subject', subject, '--send', '--json'),
      {
        signals: 2,
      },
    );
    expect([stdout, signal]).toEqual(['', 'SIGTERM']);
    const error = errorIn(stderr);
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 143 });
    const [made] = await envelopesOf('again');
    expect(error.message).toContain(isRecord(made?.metadata) ? made.metadata.esignRequestId : '?');
    const again = await runCommandIn(String(error.hint));
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining('this request ID was used before. Nothing was created'),
    ]);
    expect(await envelopesOf('again')).toEqual([parseJson(again.stdout)]);
    expect(made).toMatchObject({ status: 'SENT', subject });
  });

  it.skipIf(!canUnshare)('exits with 143 as the first process of a container', async () => {
    relay.hold(CREATE);
    const under = ['unshare', '-Urpf', '--kill-child'];
    const running = home.start(create('container', '--send'), { under });
    await relay.arrived();
    const [first] = (
      await readFile(`/proc/${running.child.pid}/task/${running.child.pid}/children`, 'utf8')
    ).split(' ');
    process.kill(Number(first), 'SIGTERM');
    await running.says(/Press Ctrl-C again to quit/);
    relay.open();
    expect(await running.ended).toMatchObject({ code: 143, signal: null });
  });

  it('leaves the command on the screen after two Ctrl-C on a terminal', { tags: ['full'] }, async () => {
    relay.hold(CREATE);
    const screen = openCommand(home, create('pty', '--send'), { columns: 200 });
    await relay.arrived();
    screen.type('\u0003');
    await screen.shows('Press Ctrl-C again to quit');
    // The text comes 300 ms after the first press, and for half a second more presses count as the same.
    await sleep(250);
    screen.type('\u0003');
    expect(await screen.ended).toMatchObject({ signal: 2 });
    const text = screen.written().join('\n');
    expect(text).toContain('may have been created');
    expect([(await runCommandIn(text)).code, (await envelopesOf('pty')).length]).toEqual([0, 1]);
  });

  it('reports that nothing was sent if nothing was', async () => {
    relay.hold(/^GET/);
    const { stdout, stderr, signal } = await stopped(create('before', '--request-id', 'before'));
    expect([stdout, stderr, signal]).toEqual(['', expect.stringMatching(/^Stopped before .*\n$/), 'SIGTERM']);
    expect(await envelopesOf('before')).toEqual([]);
  });

  const TIMES = process.env.ESIGN_REAL
    ? [0, 80, 160, 200, 240, 280, 320, 400, 500, 600, 800]
    : [0, 160, 240, 320, 500];
  it('reports its outcome, whenever the signal arrives', { tags: ['full'] }, async () => {
    for (const ms of TIMES) {
      const deal = `at-${ms}`;
      relay.hold(CREATE);
      const running = home.start(create(deal, '--json'));
      const printed: string[] = [];
      running.child.stdout?.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
      const answered = sleep(450).then(() => relay.open());
      await sleep(ms);
      running.child.kill('SIGTERM');
      await Promise.all([running.ended, answered]);
      const made = await envelopesOf(deal);
      if (printed.length > 0) expect([ms, made]).toEqual([ms, [parseJson(printed.join(''))]]);
      else if (made.length > 0)
        expect(errorIn(await running.stderr)).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    }
  });
});

describe('a stopped call', () => {
  it.each([1, 2])('reports an unknown outcome after %i signals', { tags: ['full'] }, async (signals) => {
    const id = await draft();
    relay.hold(ACTION);
    const args = ['api', 'POST', `/esign/envelopes/${id}/send`, '--json'];
    const { stdout, stderr, signal } = await stopped(args, { signals });
    expect([stdout, signal]).toEqual(['', 'SIGTERM']);
    expect(errorIn(stderr)).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 143 });
    expect(errorIn(stderr).message).toContain(`POST /esign/envelopes/${id}/send`);
  });
});

describe('a stopped action', () => {
  it.each([
    ['send', 'SENT'],
    ['cancel', 'CANCELLED'],
  ])('resolves %s by the response or the status', async (action, status) => {
    for (const isAnswered of [true, false]) {
      const id = await draft();
      relay.hold(ACTION);
      const meanwhile = async (running: LongRunning) => {
        await running.says(/Press Ctrl-C again/);
        if (isAnswered) relay.open();
      };
      const { stdout, signal } = await stopped(['envelopes', action, id], { meanwhile });
      expect([signal, stdout]).toEqual(['SIGTERM', `${id}\t${status}\n`]);
    }
  });

  it.each(['send', 'cancel'])(
    'prints a safe command for %s on a second stop',
    { tags: ['full'] },
    async (action) => {
      const id = await draft();
      relay.hold(ACTION);
      const { stderr } = await stopped(['envelopes', action, id, '--json'], { signals: 2 });
      expect(errorIn(stderr)).toMatchObject({ code: 'UNKNOWN_OUTCOME', exitCode: 143 });
      expect(errorIn(stderr).hint).toContain(`\`esign envelopes ${action} ${id} --json\``);
    },
  );

  it('reports an unknown outcome for remind, and a command that emails nobody twice', async () => {
    const [id = ''] = await stored(1, 'SENT');
    const mails = () => relay.seen.filter(({ path }) => path.endsWith(`${id}/remind`)).length;
    relay.hold(ACTION);
    const settled = await stopped(['envelopes', 'remind', id]);
    expect([settled.signal, settled.stderr]).toEqual(['SIGTERM', expect.stringContaining('may or may not')]);
    const again = await runCommandIn(settled.stderr);
    expect([again.code, again.stdout]).toEqual([0, `${id}\tREMINDED_RECENTLY\n`]);
    relay.hold(ACTION);
    const cut = await stopped(['envelopes', 'remind', id, '--json'], { signals: 2 });
    const last = await runCommandIn(String(errorIn(cut.stderr).hint));
    expect([last.code, last.stdout]).toEqual([0, expect.stringContaining('REMINDED_RECENTLY')]);
    expect(mails()).toBe(2);
  });

  /** All but the first are held back: until the rate window is known, one request is sent alone. */
  const holdAllBut = (id = '') => relay.hold(new RegExp(`^POST /esign/envelopes/(?!${id}/)`));

  it('reports the envelopes in progress, and a command that continues with the others', async () => {
    const ids = await stored(12, 'DRAFT');
    holdAllBut(ids[0]);
    const args = ['envelopes', 'send', ...ids, '--yes', '--json'];
    const first = await stopped(args, { arrived: 8 });
    const rows = jsonLines(first.stdout).filter(isRecord);
    expect([first.signal, rows.map((row) => row.ok)]).toEqual(['SIGTERM', Array(9).fill(true)]);
    expect(errorIn(first.stderr)).toMatchObject({ code: 'INTERRUPTED', exitCode: 143 });
    const now = new Map((await listed()).map(({ id, status }) => [id, status]));
    expect(ids.map((id) => now.get(id))).toEqual([
      ...Array<string>(9).fill('SENT'),
      ...Array<string>(3).fill('DRAFT'),
    ]);
    const rest = await runCommandIn(String(errorIn(first.stderr).hint));
    expect([rest.code, jsonLines(rest.stdout)]).toMatchObject([
      0,
      ids.slice(9).map((id) => ({ id, ok: true })),
    ]);
  });

  it('lists everything unresolved on a second stop', { tags: ['full'] }, async () => {
    const ids = await stored(10, 'DRAFT');
    holdAllBut(ids[0]);
    const args = ['envelopes', 'cancel', ...ids, '--yes', '--json'];
    const { stdout, stderr } = await stopped(args, { arrived: 8, signals: 2 });
    const { message, hint } = errorIn(stderr);
    expect(jsonLines(stdout)).toMatchObject([{ id: ids[0], ok: true }]);
    expect(message).toContain(`${ids.slice(1, 8).join(', ')}, and ${ids[8]}`);
    expect(hint).toContain(`esign envelopes cancel ${ids.slice(1).join(' ')} --yes`);
  });
});
