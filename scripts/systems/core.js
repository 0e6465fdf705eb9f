import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { showStep } from '../progress.js';

/** The most common tasks, from start to finish, including a bulk run that is killed halfway. */
const STEPS = {
  Version: version,
  Demo: demo,
  Sandbox: sandbox,
  'Create, sign, download, verify': documents,
  'Create a draft, send': draft,
  'Bulk, killed, and resume': bulk,
  'Listen and one delivery': delivery,
  'Ctrl-C': interrupt,
};
const ROWS = 60;
/** The number of the signal that ends a command after Ctrl-C. */
const SIGINT = 2;
const CREATE = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>'];

/** Runs all checks on a system, and stops at the first failure. */
export async function checkCore(system) {
  const seen = {};
  try {
    for (const [title, check] of Object.entries(STEPS)) {
      showStep(`${title} (${system.platform.at(-1)})`);
      await check(system, seen).catch((error) => {
        throw new Error(`${title} (${system.platform.join(', ')})`, { cause: error });
      });
    }
  } finally {
    system.close();
  }
}

async function version(system) {
  const said = await system.run(['--version']);
  same(said.trim().split(' ').slice(1), [...system.platform, 'npm']);
}

async function demo(system) {
  const folder = system.path('documents of the demo');
  const { status, webhooks, files } = await system.json(['demo', '--dir', folder]);
  same([status, webhooks.verified], ['COMPLETED', 6]);
  same(
    files.map(({ path }) => existsSync(`${folder}/${basename(path)}`)),
    [true, true, true],
  );
  // The demo removes its keys, documents, and journals.
  const left = readdirSync(system.home, { recursive: true });
  same(
    left.filter((path) => /^esign-(sandbox|demo)-/.test(basename(path))),
    [],
  );
}

async function sandbox(system, seen) {
  const start = ['sandbox', 'start', '--port', '0', '--rate-limit', '1000000/15m', '--json'];
  const running = system.start([...start, '--data', 'data of the sandbox']);
  const [line] = await running.lines(1);
  seen.sandbox = JSON.parse(line);
  same(existsSync(system.path('.config/esign/profiles.json')), true);
}

async function documents(system) {
  const { id, status } = await system.json([...CREATE, '--send']);
  same(status, 'SENT');
  await system.run(['sandbox', 'sign', id]);
  const download = ['envelopes', 'download', id, '--dir', 'signed documents/of Ada'];
  await system.run(download);
  const names = readdirSync(system.path('signed documents/of Ada')).sort();
  same(names.includes('SHA256SUMS') && names.length > 2, true);
  await system.run(download);
  same(readdirSync(system.path('signed documents/of Ada')).sort(), names);
  await system.run(['documents', 'verify', 'signed documents/of Ada']);
  await writeFile(
    system.path(
      'signed documents/of Ada',
      names.find((name) => name.endsWith('.pdf')),
    ),
    'other',
  );
  await system.run(['documents', 'verify', 'signed documents/of Ada'], 9);
}

async function draft(system) {
  const { id, status } = await system.json(CREATE);
  same([status, (await system.json(['envelopes', 'send', id])).status], ['DRAFT', 'SENT']);
}

async function bulk(system, seen) {
  const rows = Array.from({ length: ROWS }, (_, n) => `s${n}@example.com,Signer ${n}`);
  await writeFile(system.path('people to sign.csv'), ['email,name', ...rows, ''].join('\n'));
  const create = ['bulk', 'create', 'people to sign.csv', '--template', 'tmpl_nda', '--send', '--yes'];
  // Otherwise, a fast machine could send all of them before the kill.
  await setFaults(seen.sandbox, { delay: { rate: 1, ms: 200 } });
  const running = system.start([...create, '--json']);
  await running.lines(5);
  running.kill();
  await running.ended;
  await setFaults(seen.sandbox, {});
  const before = running.printed.stdout.trim().split('\n').length;
  if (before >= ROWS) throw new Error('the run finished before it was killed');
  await system.run(['bulk', 'resume', '--yes']);
  const [{ state, done, failed }] = await system.json(['bulk', 'list']);
  same([state, done, failed], ['finished', ROWS, 0]);
  same(await emailed(seen.sandbox, /^s\d+@/), ROWS);
}

async function setFaults({ baseUrl, apiKey }, faults) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const url = `${new URL(baseUrl).origin}/__sandbox/faults`;
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(faults) });
  same(status, 200);
}

/** Returns the number of addresses that were asked to sign, and checks that none was asked twice. */
async function emailed({ baseUrl, apiKey }, pattern) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const { data } = await (await fetch(`${new URL(baseUrl).origin}/__sandbox/mails`, { headers })).json();
  const to = data.filter((mail) => mail.kind === 'request' && pattern.test(mail.to)).map((mail) => mail.to);
  same(new Set(to).size, to.length);
  return to.length;
}

async function delivery(system) {
  await writeFile(system.path('webhook secret'), 'a-secret-of-the-core-0123456789\n');
  const listening = system.start(['listen', '--port', '0', '--secret-file', 'webhook secret', '--json']);
  const { url } = JSON.parse((await listening.lines(1))[0]);
  await system.run(['events', 'trigger', 'completed', '--to', url, '--secret-file', 'webhook secret']);
  const event = JSON.parse((await listening.lines(2))[1]);
  same([event.event, event.verified], ['envelope.completed', true]);
  listening.kill();
  await listening.ended;
  const kept = await system.json(['events', 'list']);
  same(
    kept.map(({ envelopeId }) => envelopeId),
    [event.envelopeId],
  );
}

async function interrupt(system) {
  const terminal = system.open(['listen', '--port', '0', '--secret-file', 'webhook secret']);
  await terminal.shows(/Listening at/);
  terminal.interrupt();
  same(await terminal.ended, SIGINT);
}

function same(found, wanted) {
  const [is, should] = [found, wanted].map((value) => JSON.stringify(value));
  if (is !== should) throw new Error(`found ${is}, expected ${should}`);
}
