import { copyFile, link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showStep } from '../../scripts/progress.js';
import {
  BIN,
  growthOf,
  homeIn,
  inTurn,
  median,
  option,
  printRows,
  ratioRow,
  rowOf,
  run,
  startSandbox,
} from './measure.js';

/*
 * Checks the seals of many sandbox documents with `documents verify` and, in one process per file, with `pdfsig` if poppler
 * is installed. A document that fails the check ends the benchmark with an error.
 * To run: node test/bench/seals.js [--documents 1000] [--rounds 3]
 */
const AT_ONCE = 8;
/** The other documents are copies of these: creating one takes far longer than checking it. */
const MADE = 200;
/** pdfsig takes one file at a time; beyond this number, the time is extrapolated. */
const ASKED_OTHERS = 200;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchSeals({ documents = 1_000, rounds = 3 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  try {
    const env = homeIn(folder);
    const dir = join(folder, 'documents');
    await download(folder, dir, documents, env);
    const rows = await figures(dir, documents, rounds, env);
    rows[0].growth = await growth(folder, dir, documents, env);
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function figures(dir, documents, rounds, env) {
  const others = (await documentsIn(dir)).slice(0, ASKED_OTHERS);
  const seen = await inTurn(rounds, {
    esign: () => run(process.execPath, [BIN, 'documents', 'verify', dir, '--require-seal'], { env }),
    'node -e 0': () => run(process.execPath, ['-e', '0'], { env }),
    pdfsig: async () => {
      const started = performance.now();
      for (const name of others) await run('pdfsig', ['-nocert', join(dir, name)], { env });
      return { ms: performance.now() - started };
    },
  });
  const each = seen.esign.map(({ ms }) => ms / documents);
  const theirs = seen.pdfsig?.map(({ ms }) => ms / others.length);
  const floor = Math.round(median(seen['node -e 0'].map(({ ms }) => ms)));
  const note = `${median(each).toFixed(2)} ms each; node -e 0: ${floor} ms`;
  const whole = seen.esign.map(({ ms }) => ms / 1_000);
  const peaks = seen.esign.map(({ peakMb }) => peakMb);
  const rows = [
    rowOf(`verify: ${documents} sealed documents`, whole, { unit: 's', digits: 2, asked: '<= 15', note }),
    rowOf(`memory: verify of ${documents} documents`, peaks, { unit: 'MB', asked: '< 200' }),
  ];
  if (theirs === undefined) return rows;
  const theirNote = `${median(theirs).toFixed(1)} ms each`;
  return [
    ...rows,
    ratioRow('verify: speed relative to pdfsig, one process per file', theirs, each, {
      asked: '>= 1',
      note: theirNote,
    }),
  ];
}

/** The cost of one document in folders with more and more of them: the same ones under other names. */
async function growth(folder, dir, documents, env) {
  const made = await documentsIn(dir);
  const counts = [documents / 10, documents, documents * 10].map(Math.ceil);
  const taken = [];
  for (const count of counts) {
    showStep(`${count} documents`);
    const some = join(folder, `documents-${count}`);
    await mkdir(some);
    for (let index = 0; index < count; index++)
      await link(join(dir, made[index % made.length]), join(some, `${index}.pdf`));
    taken.push(await run(process.execPath, [BIN, 'documents', 'verify', some, '--require-seal'], { env }));
  }
  return growthOf('documents verify', 'documents', counts, taken);
}

/** The signed documents and certificates of completed envelopes. */
async function download(folder, dir, documents, env) {
  const sandbox = await startSandbox(folder);
  try {
    await complete(sandbox.ready, Math.ceil(Math.min(documents, MADE) / 2));
    const words = [BIN, 'envelopes', 'download', '--all', '--dir', dir];
    await run(process.execPath, words, { env });
  } finally {
    await sandbox.stop();
  }
  const made = await documentsIn(dir);
  for (let index = made.length; index < documents; index++)
    await copyFile(join(dir, made[index % made.length]), join(dir, `copy-${index}.pdf`));
}

async function documentsIn(dir) {
  return (await readdir(dir)).filter((name) => name.endsWith('.pdf'));
}

async function complete({ baseUrl, apiKey }, count) {
  const { origin } = new URL(baseUrl);
  const post = async (url, body) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${url}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  const next = Array.from({ length: count }, (_, index) => index).values();
  const work = async () => {
    for (const index of next) {
      const signers = [{ email: `ada${index}@example.com`, name: `Ada ${index}` }];
      const draft = { templateId: 'tmpl_nda', signers, sendImmediately: true };
      const { data } = await post(`${baseUrl}/esign/envelopes`, draft);
      await post(`${origin}/__sandbox/envelopes/${data.id}/sign`, {});
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

if (process.argv[1] === import.meta.filename)
  printRows(await benchSeals({ documents: option('documents'), rounds: option('rounds') }));
