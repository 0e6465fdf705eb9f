import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { holdingsOf, rowsOf } from '../support/bulk-check.ts';
import { COMMAND, Home, reportedError, type Sandbox } from '../support/cli.ts';
import { type Gate, startGate } from '../support/gate.ts';
import { openScreen } from '../support/pty.ts';

const home = new Home();
let gate: Gate;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox(['--rate-limit', '1000000/15m']);
  const { origin, pathname } = new URL(sandbox.baseUrl);
  gate = await startGate(origin);
  await home.json(argv`profiles edit sandbox --base-url ${gate.origin + pathname} --no-verify`);
});
afterAll(async () => {
  await home.close();
  await gate.close();
});
beforeEach(async () => {
  gate.open();
  await home.run`sandbox reset --yes`;
});

const send = argv`bulk create rows.csv --template tmpl_nda --send --yes --json`;
const once = (rows: number) =>
  new Map(Array.from({ length: rows }, (_, n): [string, number] => [`s${n}@example.com`, 1]));
const sorted = (emails: ReadonlyMap<string, number>) =>
  new Map([...emails].sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true })));

it('emails each signer exactly once if a run is killed and resumed', async () => {
  await writeFile(home.path('rows.csv'), rowsOf(100));
  const held = gate.hold(60, 'answer');
  const run = home.start(send);
  run.child.stdout?.resume();
  await held;
  await run.stop('SIGKILL');
  gate.open();
  expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'interrupted', total: 100 }]);
  expect((await home.run`bulk resume --yes --json`).code).toBe(0);
  const { mails, drafts } = await holdingsOf(sandbox);
  expect([sorted(mails), drafts]).toEqual([once(100), 0]);
});

it('works on a run in one process at a time, and stops cleanly on Ctrl-C', async () => {
  await writeFile(home.path('rows.csv'), rowsOf(50));
  const held = gate.hold(40, 'request');
  const running = home.start(send);
  running.child.stdout?.resume();
  await held;
  const second = await home.run`bulk resume --yes --json`;
  expect(reportedError(second)).toMatchObject({ code: 'USAGE', exitCode: 2 });
  expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'running' }]);
  expect(await running.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'interrupted' }]);
});

it('asks on a terminal: no sends nothing, yes sends', async () => {
  await writeFile(home.path('rows.csv'), rowsOf(3));
  const [program, ...before] = COMMAND;
  const words = [...before, ...argv`bulk create ${home.path('rows.csv')} --template tmpl_nda --send`];
  for (const [answer, emailed, code] of [
    ['n', 0, 2],
    ['y', 3, 0],
  ] as const) {
    const screen = openScreen(program, words, { env: home.env, columns: 120 });
    await screen.shows('(y/N)');
    screen.type(`${answer}\r`);
    expect((await screen.ended).code).toBe(code);
    expect((await holdingsOf(sandbox)).mails.size).toBe(emailed);
  }
});
