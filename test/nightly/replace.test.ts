import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/api/client.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { Home } from '../support/cli.ts';
import { requestsToSign } from '../support/mails.ts';
import {
  expectOneAtMost,
  leftFor,
  madeFor,
  type Rig,
  replaceThroughFaults,
  startRig,
  wrongOne,
} from '../support/replacing.ts';
import { seeded } from '../support/seeded.ts';

const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 32);
const RUNS = Number(process.env.REPLACE_RUNS ?? 1_000);
const KILLED_RUNS = Number(process.env.REPLACE_KILLED_RUNS ?? 40);

let rig: Rig;
const home = new Home();
beforeAll(async () => {
  process.stdout.write(`replace faults: REPLACE_RUNS=${RUNS} FAULT_SEED=${SEED}\n`);
  rig = await startRig();
});
afterAll(async () => {
  await home.close();
  await rig.close();
});

describe('replacing an envelope', () => {
  it(`ends with one sent envelope in ${RUNS} runs, with kills and lost responses at any point`, {
    timeout: 3_600_000,
  }, async () => {
    const tries = new Map<number, number>();
    for (let run = 0; run < RUNS; run++) {
      const seed = (SEED + run) % 2 ** 32;
      // The list is read at each step, so a short one makes the runs fast.
      if (run % 25 === 24) {
        await rig.close();
        rig = await startRig();
      }
      const done = await replaceThroughFaults(rig, seed).catch((error: unknown) => {
        throw new Error(`FAULT_SEED=${seed}`, { cause: error });
      });
      if (run % 100 === 99) process.stdout.write(`replace faults: ${run + 1} runs\n`);
      tries.set(done.tries, (tries.get(done.tries) ?? 0) + 1);
    }
    process.stdout.write(`replace faults: runs by tries ${JSON.stringify(Object.fromEntries(tries))}\n`);
  });

  it(`ends with one sent envelope in ${KILLED_RUNS} runs of the built program, with kills at random moments and lost responses`, {
    timeout: 3_600_000,
  }, async () => {
    const random = seeded(SEED);
    const env = { ESIGN_BASE_URL: rig.sandbox.baseUrl, ESIGN_API_KEY: rig.sandbox.apiKey };
    const client = createClient({
      baseUrl: rig.sandbox.baseUrl,
      apiKey: rig.sandbox.apiKey,
      timeoutMs: 20_000,
      userAgent: 'esign-test',
      clock: systemClock,
    });
    let kills = 0;
    for (let run = 0; run < KILLED_RUNS; run++) {
      const old = await wrongOne({ ...rig, client }, 'SENT');
      const args = ['envelopes', 'replace', old.id, '--signer', 'adda@example.com=ada@example.com', '--json'];
      rig.sandbox.control.faults({
        seed: SEED + run,
        lostReply: { match: 'POST /esign/envelopes', rate: 0.2 },
      });
      for (let tries = 0; tries < 3; tries++) {
        const running = home.start(args, { env });
        await Promise.race([running.ended, sleep(50 + random() * 300)]);
        if (running.child.exitCode === null && running.child.kill('SIGKILL')) kills++;
        await running.ended;
        rig.sandbox.control.faults({});
        await expectOneAtMost({ client }, old);
      }
      const last = await home.run(args, { env });
      expect([last.code, last.stderr]).toEqual([0, expect.any(String)]);
      const left = await leftFor({ client }, old);
      expect([(await client.envelopes.get(old.id)).status, left]).toEqual(['CANCELLED', ['SENT']]);
      const made = (await madeFor({ client }, old)).find(({ status }) => status === 'SENT');
      expect(await requestsToSign(rig.sandbox, made?.id ?? '')).toEqual({
        'ada@example.com': 1,
        'bo@example.com': 1,
      });
    }
    process.stdout.write(`replace faults: ${kills} kills\n`);
    expect(kills).toBeGreaterThan(0);
  });
});
