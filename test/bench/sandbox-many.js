import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { showStep } from '../../scripts/progress.js';
import { BIN, homeIn, times } from './measure.js';

/*
 * Compares a sandbox with very many envelopes with one that has few, in one run and by processor time, so that a busy
 * machine gives the same result. Their file repeats the records of one real envelope with other IDs.
 */
const MOST_START_S = 5;
const MOST_PAGE_MS = 5;
const LEAST_GETS = 2_000;
const REQUESTS = 2_000;
const AT_ONCE = 8;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchMany(folder, envelopes) {
  const counts = [envelopes / 100, envelopes / 10, envelopes];
  const taken = [];
  for (const count of counts) taken.push(await figures(folder, `many-${count}`, count));
  const [few, , many] = taken;
  const bare = await bareReading(join(folder, `many-${envelopes}`, 'state.jsonl'));
  const stored = `with ${envelopes} envelopes stored`;
  const comparedWith = (name) => `${times(many[name] / few[name])} the value with ${few.envelopes}`;
  return [
    {
      name: `sandbox: start ${stored}, processor time`,
      value: `${many.start.toFixed(1)} s`,
      asked: `<= ${MOST_START_S} s`,
      good: many.start <= MOST_START_S,
      note: `${times(many.start / bare)} the time of JSON.parse for the lines of its file`,
    },
    {
      name: `sandbox: page of 20 envelopes, ${stored}`,
      value: `${many.page.toFixed(2)} ms of processor time`,
      asked: `<= ${MOST_PAGE_MS} ms`,
      good: many.page <= MOST_PAGE_MS,
      note: comparedWith('page'),
    },
    {
      name: `sandbox: page by status, ${stored}`,
      value: `${many.byStatus.toFixed(2)} ms of processor time`,
      asked: `<= ${MOST_PAGE_MS} ms`,
      good: many.byStatus <= MOST_PAGE_MS,
      note: comparedWith('byStatus'),
    },
    {
      name: `sandbox: GET envelope, ${stored}`,
      value: `${Math.round(1_000 / many.get)} per second of a core`,
      asked: `>= ${LEAST_GETS}`,
      good: 1_000 / many.get >= LEAST_GETS,
      note: `the time for one is ${comparedWith('get')}`,
      growth: {
        what: 'sandbox, GET of one',
        unit: 'envelopes',
        costs: taken.map(({ envelopes: items, get: ms }) => ({ items, ms })),
      },
    },
  ];
}

async function figures(folder, name, envelopes) {
  showStep(`${envelopes} envelopes`);
  const first = await start(folder, name);
  const id = await createOne(first);
  await first.stop();
  await multiply(join(folder, name, 'state.jsonl'), id, envelopes);
  const sandbox = await start(folder, name);
  const startTime = await sandbox.cpu();
  const of = (path) => costOf(sandbox, path);
  const page = await of('?page=3');
  const byStatus = await of('?status=SENT&page=2');
  const get = await of(`/${id}`);
  await sandbox.stop();
  return { envelopes, start: startTime, page, byStatus, get };
}

async function start(folder, name) {
  const state = ['--data', join(folder, name), '--port', '0', '--rate-limit', '100000000/15m'];
  const words = [BIN, 'sandbox', 'start', ...state, '--json'];
  const child = spawn(process.execPath, words, { env: homeIn(folder), stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { baseUrl, apiKey } = JSON.parse(line);
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  /** Returns the processor time of all threads so far, in seconds. */
  const cpu = async () => {
    const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  return { url: `${baseUrl}/esign/envelopes`, headers: { authorization: `Bearer ${apiKey}` }, stop, cpu };
}

async function createOne({ url, headers }) {
  const body = JSON.stringify({
    templateId: 'tmpl_lease',
    signers: [
      { email: 'ada@example.com', name: 'Ada Lovelace', role: 'Landlord' },
      { email: 'bob@example.com', name: 'Bob Babbage', role: 'Tenant' },
    ],
    metadata: { contract: 'C-2026-000123', unit: '4b' },
    sendImmediately: true,
  });
  const json = { ...headers, 'content-type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers: json, body });
  return (await reply.json()).data.id;
}

/** Appends the records of one envelope until there are as many as requested. */
async function multiply(path, id, envelopes) {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const text = lines.filter((line) => line.includes(id));
  const secrets = text.join('').match(/(?:env|signer|mail)_[0-9a-f]{20}|[0-9a-f]{48}/g) ?? [];
  const ids = new Set(secrets.map((one) => one.replace(/^\w+_/, '')));
  const file = createWriteStream(path, { flags: 'a' });
  for (let made = 1; made < envelopes; made++) {
    let copy = text.join('\n');
    for (const one of ids) copy = copy.replaceAll(one, randomBytes(one.length / 2).toString('hex'));
    if (!file.write(`${copy}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

/** Returns the processor time of a warm request, in milliseconds. */
async function costOf({ url, headers, cpu }, path) {
  const ask = async (count) => {
    let left = count;
    const work = async () => {
      while (left-- > 0) {
        const reply = await fetch(`${url}${path}`, { headers });
        if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status}`);
        await reply.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };
  await ask(REQUESTS / 4);
  const before = await cpu();
  await ask(REQUESTS);
  return ((await cpu()) - before) * (1_000 / REQUESTS);
}

/** Returns the processor time that this process takes to parse each line, in seconds. */
async function bareReading(path) {
  const before = process.cpuUsage();
  const kept = [];
  for await (const line of createInterface({ input: createReadStream(path) }))
    if (line !== '') kept.push(JSON.parse(line));
  const { user, system } = process.cpuUsage(before);
  return kept.length > 0 ? (user + system) / 1e6 : Number.NaN;
}
