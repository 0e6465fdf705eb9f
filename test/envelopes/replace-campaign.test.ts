import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Rig, replaceThroughFaults, startRig } from '../support/replacing.ts';

/* Kills and lost responses at any point; test/faults runs more of them, also with the built program. */
const RUNS = Number(process.env.REPLACE_RUNS ?? 4);
let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

describe('replacing an envelope', () => {
  it(`ends with one envelope that was sent once, after any interruption (${RUNS} seeds)`, {
    timeout: 120_000,
  }, async () => {
    let tries = 0;
    for (let seed = 1; seed <= RUNS; seed++)
      tries += (
        await replaceThroughFaults(rig, seed).catch((error: unknown) => {
          throw new Error(`seed ${seed}`, { cause: error });
        })
      ).tries;
    expect(tries).toBeGreaterThan(2 * RUNS);
  });
});
