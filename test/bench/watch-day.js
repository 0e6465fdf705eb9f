import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { importSources, option, printRows, startSandbox } from './measure.js';

/*
 * Checks whether a watch that runs for a day uses more memory at its end than after its first hour: its own code on a clock
 * that doesn't wait, against a real sandbox in which somebody signs every five minutes.
 * To run: node test/bench/watch-day.js [--envelopes 1000] [--hours 24]
 */
const INTERVAL_MS = 30_000;
const HOUR_MS = 3_600_000;
const SIGNS_EVERY = 10;
/** MB by which the heap may vary between measurements. */
const PLAY_MB = 2;

/** @returns {Promise<import('./measure.js').Row>} */
export async function benchDay({ envelopes = 1_000, hours = 24 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const sandbox = await startSandbox(folder, ['--rate-limit', '1000000000/15m']);
  try {
    const { watchEnvelopes, createClient, sandboxControl, controlUrl } = await importSources(
      folder,
      'src/envelopes/watch/watch-envelopes.ts',
      'src/api/client.ts',
      'src/sandbox/control/control-client.ts',
    );
    const facts = { ...sandbox.ready, timeoutMs: 30_000, userAgent: 'bench', clock: quickClock() };
    const client = createClient(facts);
    const control = sandboxControl(createClient({ ...facts, baseUrl: controlUrl(facts.baseUrl) }).send);
    const ids = await sent(client, envelopes);
    const { heapSizes, polls, changes } = await day({ watchEnvelopes, client, control, ids, hours });
    const [first, last] = [heapSizes[0], heapSizes.at(-1)];
    return {
      name: `watch: heap after ${hours} simulated hours`,
      value: `${last.toFixed(1)} MB`,
      asked: 'flat',
      good: last - first < PLAY_MB,
      note: `${first.toFixed(1)} MB after the first; ${polls} polls of ${envelopes} envelopes, ${changes} changes`,
    };
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Time passes only when somebody sleeps. */
function quickClock() {
  let now = Date.now();
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += ms;
      await setImmediate();
    },
  };
}

async function sent(client, count) {
  const ids = [];
  while (ids.length < count) {
    const some = Array.from({ length: 50 }, (_, n) =>
      client.envelopes.create({
        templateId: 'tmpl_nda',
        signers: [{ email: `w${ids.length + n}@example.com`, name: 'W' }],
        sendImmediately: true,
      }),
    );
    ids.push(...(await Promise.all(some)).map(({ id }) => id));
  }
  return ids;
}

/** The heap after each hour, after garbage collection. */
async function day({ watchEnvelopes, client, control, ids, hours }) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const begin = client.clock.now();
  const ended = new AbortController();
  const heapSizes = [];
  let polls = 0;
  let changes = 0;
  const unsigned = ids.values();
  const onPoll = ({ at }) => {
    polls++;
    if (polls % SIGNS_EVERY === 0) control.sign(unsigned.next().value, {}).catch(() => undefined);
    if (at - begin < (heapSizes.length + 1) * HOUR_MS) return;
    collect();
    heapSizes.push(process.memoryUsage().heapUsed / 1e6);
    if (heapSizes.length === hours) ended.abort();
  };
  const options = { until: [], intervalMs: INTERVAL_MS, onPoll, signal: ended.signal };
  try {
    for await (const event of watchEnvelopes(client, ids, options)) if (event.type === 'change') changes++;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
  return { heapSizes, polls, changes };
}

if (process.argv[1] === import.meta.filename)
  printRows([await benchDay({ envelopes: option('envelopes'), hours: option('hours') })]);
