import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { ensureBuilt } from './ensure.js';
import { pagePictures } from './pictures/pages.js';
import { svgOf } from './pictures/svg.js';

// Takes the pictures of docs/pictures: real commands in a terminal and real pages, against a sandbox of their own.
const COLUMNS = 100;
const ROWS = 30;
const PATIENCE_MS = 60_000;
const root = join(import.meta.dirname, '..');
const bin = join(root, 'bin/run.js');
const folder = join(root, 'docs/pictures');

await ensureBuilt();
const home = await mkdtemp(join(tmpdir(), 'esign-pictures-'));
const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'xterm-256color' };

/** Runs a command to its end; what it printed. */
async function esign(...words) {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...words], { env, cwd: home });
  return stdout.trim();
}

/** Opens a command in a terminal of its own, under a prompt with the command. */
function open(words, rows = ROWS) {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows, allowProposedApi: true });
  terminal.write(`\u001b[2m$\u001b[0m esign ${words.join(' ')}\r\n`);
  const child = spawn(process.execPath, [bin, ...words], { cols: COLUMNS, rows: rows - 1, env, cwd: home });
  // Nobody's folders in a picture.
  child.onData((data) => terminal.write(data.replaceAll(home, '~')));
  const ended = new Promise((resolve) => child.onExit(resolve));
  return { terminal, child, ended };
}

function textOf(terminal) {
  const { active } = terminal.buffer;
  return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true)).join(
    '\n',
  );
}

/** Waits until the screen shows it. */
async function shows(terminal, pattern) {
  for (const deadline = Date.now() + PATIENCE_MS; !pattern.test(textOf(terminal)); ) {
    if (Date.now() > deadline) throw new Error(`it never showed ${pattern}:\n${textOf(terminal)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const flushed = (terminal) => new Promise((resolve) => terminal.write('', resolve));

async function keep(name, title, terminal) {
  await flushed(terminal);
  await writeFile(join(folder, `${name}.svg`), svgOf(terminal, title));
}

/** A command that ends, and the screen it leaves. */
async function take(name, title, words, rows) {
  const { terminal, ended } = open(words, rows);
  await ended;
  await keep(name, title, terminal);
}

function create(template, days, ...signers) {
  const words = signers.flatMap((signer) => ['--signer', signer]);
  return esign(
    'envelopes',
    'create',
    '--template',
    template,
    '--expires-in-days',
    String(days),
    ...words,
    '--send',
    '-q',
  );
}

async function stage() {
  const lease = await create(
    'tmpl_lease',
    30,
    'Łukasz Řehoř <lukasz@example.com>;role=Landlord',
    '李小龍 <li@example.com>;role=Tenant',
  );
  const offer = await create(
    'tmpl_employment',
    14,
    'Ada Lovelace <ada@example.com>',
    'Bo Li <bo@example.com>',
    'Chen Wei <chen@example.com>',
  );
  const done = await create('tmpl_nda', 30, 'Grace Hopper <grace@example.com>');
  const refused = await create('tmpl_nda', 7, 'Alan Turing <alan@example.com>');
  await esign(
    'envelopes',
    'create',
    '--template',
    'tmpl_intake',
    '--signer',
    'Edsger Dijkstra <edsger@example.com>',
    '-q',
  );
  await esign('sandbox', 'sign', lease);
  await esign('sandbox', 'sign', done);
  await esign('sandbox', 'decline', refused, '--reason', 'wrong company');
  await esign('sandbox', 'sign', offer);
  return { lease, offer };
}

async function watchPicture({ lease, offer }) {
  const { terminal, child, ended } = open(
    ['envelopes', 'watch', '--status', 'SENT,IN_PROGRESS', '--interval', '500ms'],
    12,
  );
  await shows(terminal, new RegExp(`${offer}[^]*1/3`));
  await esign('sandbox', 'sign', lease);
  await shows(terminal, /COMPLETED/);
  await keep('watch', 'esign envelopes watch: a live table, one envelope has just been completed', terminal);
  child.write('\u0003');
  await ended;
}

async function bulkPicture() {
  const rows = Array.from({ length: 300 }, (_, at) => `person${at + 1}@example.com,Person ${at + 1}`);
  await writeFile(join(home, 'people.csv'), `email,name\n${rows.join('\n')}\n`);
  const { terminal, ended } = open(
    ['bulk', 'create', 'people.csv', '--template', 'tmpl_nda', '--send', '--yes'],
    12,
  );
  await shows(terminal, /\b(?:1[5-9]|2\d)\d of 300 sent/);
  await keep('bulk', 'esign bulk create: 300 envelopes on their way, with rate and time left', terminal);
  await ended;
}

/** Late signers, some of them reminded, and a report of two months. Moves the sandbox's clock. */
async function followUpPictures() {
  for (let week = 0; week < 8; week++) {
    for (let at = 0; at < 4 + (week % 3); at++) {
      const id = await create('tmpl_nda', 30, `Person ${week}${at} <person${week}${at}@example.com>`);
      await esign('sandbox', 'advance', `${3 + 7 * at}h`);
      if (at < 4) await esign('sandbox', 'sign', id);
    }
    await esign('sandbox', 'advance', '4d');
  }
  const rows = 34;
  await take('late', 'esign late: late signers, and the command to run next for each', [
    'late',
    '--percentile',
    '95',
  ]);
  await take(
    'report',
    'esign report: figures, a weekly trend, and how long envelopes took',
    ['report'],
    rows,
  );
}

const sandbox = execFile(
  process.execPath,
  [bin, 'sandbox', 'start', '--ephemeral', '--port', '0', '--json'],
  { env },
);
try {
  const [ready] = await once(sandbox.stdout, 'data');
  const { baseUrl } = JSON.parse(ready);
  await mkdir(folder, { recursive: true });
  const staged = await stage();
  await take('list', 'esign envelopes list: a table with status, signers and times', ['envelopes', 'list']);
  await take('get', 'esign envelopes get: where one envelope stands', ['envelopes', 'get', staged.offer]);
  await watchPicture(staged);
  await followUpPictures();
  await pagePictures({ bin, env, home, folder, esign, baseUrl });
  await bulkPicture();
} finally {
  sandbox.kill();
  await once(sandbox, 'close');
  await rm(home, { recursive: true, force: true });
}
