import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { importSources, option, printRows, startSandbox } from './measure.js';

/*
 * Checks whether a watch uses more memory after half a day than after its first hour: its own code on a clock that doesn't wait,
 * against a real sandbox in which somebody signs every five minutes.
 * To run: node test/bench/watch-day.js [--envelopes 200] [--hours 12]
 */
const INTERVAL_MS = 30_000;
const HOUR_MS = 3_600_000;
const SIGNS_EVERY_MS = 300_000;
/** MB by which the heap may vary between measurements. */
const PLAY_MB = 2;

/** @returns {Promise<import('./measure.js').Row>} */
export async function benchDay({ envelopes = 200, hours = 12 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const sandbox = await startSandbox(folder, ['--rate-limit', '1000000000/15m']);
  try {
    const { watchEnvelopes, createClient, sandboxControl, controlUrl } = await importSources(
      folder,
      'src/envelopes/watch/watch-envelopes.ts',
      'src/api/client.ts',
      'src/api/sandbox-control.ts',
    );
    const clock = quickClock();
    const facts = { ...sandbox.ready, timeoutMs: 30_000, userAgent: 'bench', clock };
    const client = createClient(facts);
    const control = sandboxControl(createClient({ ...facts, baseUrl: controlUrl(facts.baseUrl) }).send);
    const ids = await sent(client, envelopes);
    const { heapSizes, signed, changes } = await day({ watchEnvelopes, client, clock, control, ids, hours });
    const [first, last] = [heapSizes[0], heapSizes.at(-1)];
    return {
      name: `watch: heap after ${hours} simulated hours`,
      value: `${last.toFixed(1)} MB`,
      asked: 'flat',
      good: last - first < PLAY_MB,
      note: `${first.toFixed(1)} MB after the first; ${envelopes} envelopes, ${signed} signed, ${changes} changes seen`,
    };
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Time passes only when somebody sleeps. `passed` is called with each new time (ms since the epoch). */
function quickClock() {
  const clock = {
    passed: (_now) => undefined,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += ms;
      await setImmediate();
      clock.passed(now);
    },
  };
  let now = Date.now();
  return clock;
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
async function day({ watchEnvelopes, client, clock, control, ids, hours }) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const begin = clock.now();
  const ended = new AbortController();
  const heapSizes = [];
  let signed = 0;
  let changes = 0;
  clock.passed = (now) => {
    while (signed < ids.length && now - begin >= signed * SIGNS_EVERY_MS)
      control.sign(ids[signed++], {}).catch(() => undefined);
    if (now - begin < (heapSizes.length + 1) * HOUR_MS) return;
    collect();
    heapSizes.push(process.memoryUsage().heapUsed / 1e6);
    if (heapSizes.length === hours) ended.abort();
  };
  const options = { until: [], intervalMs: INTERVAL_MS, signal: ended.signal };
  try {
    for await (const event of watchEnvelopes(client, ids, options)) if (event.type === 'change') changes++;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
  return { heapSizes, signed, changes };
}

if (process.argv[1] === import.meta.filename)
  printRows([await benchDay({ envelopes: option('envelopes'), hours: option('hours') })]);
