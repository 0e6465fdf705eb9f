import { writeFile } from 'node:fs/promises';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { holdingsOf, rowsOf } from '../support/bulk-check.ts';
import { COMMAND, Home, reportedError } from '../support/cli.ts';
import { openScreen } from '../support/pty.ts';
import { type Relay, relayedSandbox } from '../support/relay.ts';

const home = new Home();
let relay: Relay;
beforeAll(async () => {
  relay = await relayedSandbox(home);
});
beforeEach(() => relay.reset());

const send = argv`bulk create rows.csv --template tmpl_nda --send --yes --json`;
const once = (rows: number) =>
  new Map(Array.from({ length: rows }, (_, n): [string, number] => [`s${n}@example.com`, 1]));
const sorted = (emails: ReadonlyMap<string, number>) =>
  new Map([...emails].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })));

it.each([
  ['is resumed while it creates drafts', 60, argv`bulk resume --yes --json`],
  ['is resumed while it sends', 160, argv`bulk resume --yes --json`],
  ['is started again with the same command while it creates drafts', 60, send],
  ['is started again with the same command while it sends', 160, send],
])('emails each signer exactly once if a run that was killed %s', async (_, requests, again) => {
  await writeFile(home.path('rows.csv'), rowsOf(100));
  relay.hold(requests);
  const run = home.start(send);
  run.child.stdout?.resume();
  await relay.arrived();
  await run.stop('SIGKILL');
  relay.open();
  expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'interrupted', total: 100 }]);
  if (requests < 100) expect((await holdingsOf(relay.sandbox)).mails.size).toBe(0);
  expect((await home.run(again)).code).toBe(0);
  const { mails, drafts } = await holdingsOf(relay.sandbox);
  expect([sorted(mails), drafts]).toEqual([once(100), 0]);
});

it('works on a run in one process at a time, and stops cleanly on Ctrl-C', async () => {
  // Other people than in earlier runs, whose envelopes would be read first.
  await writeFile(home.path('rows.csv'), rowsOf(50).replaceAll('@example.com', '@one.example'));
  relay.hold(40, 'request');
  const running = home.start(send);
  running.child.stdout?.resume();
  await relay.arrived();
  const second = await home.run`bulk resume --yes --json`;
  expect(reportedError(second)).toMatchObject({ code: 'USAGE', exitCode: 2 });
  expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'running' }]);
  expect(await running.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'interrupted' }]);
});

/** Starts `bulk create` in a terminal of 80×24. `before`: a command whose output it reads. */
function createOnScreen(file: string, before = '') {
  const words = [...COMMAND, ...argv`bulk create ${file} --template tmpl_nda --send`].join(' ');
  return openScreen('sh', ['-c', `${before}${words}`], { env: home.env });
}

it('asks on a terminal: no sends nothing, yes sends', async () => {
  await writeFile(home.path('rows.csv'), rowsOf(60));
  for (const [answer, emailed, code] of [
    ['n', 0, 2],
    ['y', 60, 0],
  ] as const) {
    const screen = createOnScreen(home.path('rows.csv'));
    await screen.shows('Send 60 envelopes to 60 people (sandbox, 127.0.0.1:');
    screen.type(`${answer}\r`);
    expect((await screen.ended).code).toBe(code);
    expect((await holdingsOf(relay.sandbox)).mails.size).toBe(emailed);
    // The progress line is overwritten, and not cleared with each row.
    expect(screen.raw().split('\r\u001b[K').length).toBeLessThan(5);
  }
});

it('asks on the terminal also for a list from a pipe', async () => {
  await writeFile(home.path('rows.csv'), rowsOf(2));
  const screen = createOnScreen('-', `cat ${home.path('rows.csv')} | `);
  await screen.shows('Send 2 envelopes to 2 people (sandbox, 127.0.0.1:');
  screen.type('y\r');
  expect((await screen.ended).code).toBe(0);
  expect((await holdingsOf(relay.sandbox)).mails.size).toBe(2);
});

it('shows the status of a run on one screen: what needs attention, and who has waited longest', async () => {
  const pairs = Array.from({ length: 30 }, (_, n) => `s${n}@example.com,boss@example.com\n`);
  await writeFile(home.path('rows.csv'), `signer1_email,signer2_email\n${pairs.join('')}`);
  expect((await home.run([...send, '--first', '25'])).code).toBe(0);
  const { stdout } = await home.run`bulk status -q`;
  for (const id of stdout.split('\n').slice(0, 8))
    await home.json(argv`sandbox decline ${id} --signer boss@example.com --reason ${'too late'} --json`);
  const [program, ...before] = COMMAND;
  const screen = openScreen(program, [...before, 'bulk', 'status'], { env: home.env });
  expect((await screen.ended).code).toBe(0);
  const lines = screen.visible();
  expect(lines[0]).toMatch(/^run-\S+, rows\.csv, .*, paused: 30 rows$/);
  expect(lines[1]).toBe('25 of 30 sent, 5 not started.');
  expect(lines[2]).toBe('Continue: esign bulk resume');
  expect(lines[3]).toBe('17 waiting, 5 pending, 8 declined');
  expect(lines.filter((line) => /declined +too late/.test(line))).toHaveLength(6);
  expect(screen.text()).toMatch(/^– +boss@example\.com +17 envelopes, \d+ seconds?$/m);
  expect(screen.text()).toMatch(/^17 more +esign bulk status --all$/m);
  // Nobody has been asked for a day yet.
  expect(screen.text()).not.toContain('remind');
});
