import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/api/client.ts';
import { createBody } from '../../src/envelopes/create.ts';
import { createEnvelope } from '../../src/envelopes/create-once.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { UnknownOutcomeError } from '../../src/kernel/errors.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts';
import { gateFor, memoryOf } from '../support/recording.ts';

const COUNT = Number(process.env.FAULT_REQUESTS ?? 1_000);
const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 32);
/** Most creates wait: for a lost request, the list is searched for a minute. */
const CREATES = 200;
const READS = 16;

let folder: string;
let memory: WriteMemory;
let sandbox: Sandbox;
const proxies: FaultyProxy[] = [];

beforeAll(async () => {
  process.stdout.write(`client faults: FAULT_REQUESTS=${COUNT} FAULT_SEED=${SEED}\n`);
  folder = await mkdtemp(join(tmpdir(), 'esign-faults-'));
  memory = memoryOf(folder, systemClock);
  sandbox = await startSandbox({
    dataDir: join(folder, 'sandbox'),
    port: 0,
    rateLimit: { requests: 1_000_000, seconds: 900 },
  });
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
});

function clientAt(baseUrl: string): Client {
  return createClient({
    gate: async () => gateFor(memory, baseUrl, systemClock),
    baseUrl,
    apiKey: sandbox.apiKey,
    timeoutMs: 2_000,
    userAgent: 'esign-test',
    clock: systemClock,
    isPaced: true,
  });
}

async function proxied(faultsFor: Parameters<typeof startFaultyProxy>[0]['faultsFor']) {
  const { origin, pathname } = new URL(sandbox.baseUrl);
  const proxy = await startFaultyProxy({ target: origin, seed: SEED, slowMs: 2_500, faultsFor });
  proxies.push(proxy);
  return { proxy, client: clientAt(`${proxy.origin}${pathname}`) };
}

/** Runs `work` for 0 … COUNT-1, some in parallel. */
async function forAll(concurrency: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < COUNT) await work(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

describe('an unreliable network', () => {
  it(`loses and repeats none of ${COUNT} creates with 20% of responses lost and 10% of connections reset`, async () => {
    let [posts, reruns] = [0, 0];
    // Reruns are undisturbed, so that none waits for another minute.
    const { client, proxy } = await proxied(({ method }) =>
      method === 'POST' && posts++ < COUNT ? { lost: 0.2, reset: 0.1 } : {},
    );

    await forAll(CREATES, async (index) => {
      const wanted = {
        templateId: 'tmpl_nda',
        signers: [{ email: `signer${index}@example.com`, name: `Signer ${index}` }],
        send: true,
      };
      // As a script would: the same request ID until the outcome is known.
      for (let rerun = false; ; rerun = true) {
        const id = `fault-${SEED}-${index}`;
        const done = await createEnvelope(client, createBody(wanted, id), { rerun, memory }).catch(
          (error: unknown) => {
            if (error instanceof UnknownOutcomeError) return undefined;
            throw error;
          },
        );
        if (done) return;
        reruns++;
      }
    });
    const direct = clientAt(sandbox.baseUrl);
    const perSigner = new Map<string, number>();
    for await (const item of direct.envelopes.list()) {
      const envelope = await direct.envelopes.get(item.id);
      const email = envelope.signers?.[0]?.email ?? '';
      perSigner.set(email, (perSigner.get(email) ?? 0) + 1);
    }
    process.stdout.write(`client faults: ${JSON.stringify(proxy.counts)}, ${reruns} reruns\n`);
    expect(perSigner.size).toBe(COUNT);
    expect([...perSigner.values()].filter((count) => count !== 1)).toEqual([]);
    expect(proxy.counts.lost).toBeGreaterThan(COUNT / 10);
  });

  it(`returns at least 99.5% of ${COUNT} reads, none of them wrong, with 30% of connections faulty`, async () => {
    const direct = clientAt(sandbox.baseUrl);
    const ids: string[] = [];
    for await (const item of direct.envelopes.list()) ids.push(item.id);
    const { client, proxy } = await proxied(() => ({
      reset: 0.08,
      cut: 0.08,
      slow: 0.02,
      gateway: 0.07,
      garbage: 0.05,
    }));
    let [right, wrong] = [0, 0];
    await forAll(READS, async (index) => {
      const id = ids[index % ids.length] ?? '';
      const envelope = await client.envelopes.get(id).catch(() => undefined);
      if (envelope === undefined) return;
      if (envelope.id === id && envelope.signers?.length === 1) right++;
      else wrong++;
    });
    process.stdout.write(`client faults: ${right} of ${COUNT} reads; ${JSON.stringify(proxy.counts)}\n`);
    expect(wrong).toBe(0);
    expect(right / COUNT).toBeGreaterThanOrEqual(0.995);
  });
});
