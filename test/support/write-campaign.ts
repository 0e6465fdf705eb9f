import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Envelope } from '../../src/api/resource-types.ts';
import { replacedBy } from '../../src/catalog/markers.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { LogFolder, logFolder } from '../../src/log/log-folder.ts';
import { createBody, type EnvelopeInput } from '../../src/once/create-body.ts';
import { createOnce } from '../../src/once/create-envelope.ts';
import { fakeClock } from './clock.ts';
import { FaultyService } from './faulty-service.ts';
import { replaceOnce, requestFor } from './replacing.ts';
import { seeded } from './seeded.ts';
import type { Fate } from './service-behavior.ts';

/*
 * Seeded campaigns for writes, in process and with a fake clock: two processes at the same time, two machines, state
 * restored from an older copy, a list that lags, metadata that the list omits, shifted clocks, and responses that are lost
 * or are a 408 after the request was processed.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** By then, created envelopes are listed. */
const LISTED_MS = 70_000;
const FATES: [Fate, ...Fate[]] = ['ok', 'lost', 'never came', 'late', 'late 504', 'no body', 408, 499, 500];
const STEPS = ['run', 'two processes', 'other machine', 'save', 'restore'] as const;

interface Campaign {
  service: FaultyService;
  random: () => number;
  /** Returns the state folder of a machine. */
  folderOf: (machine: string) => string;
  /** A machine's clock, which may be wrong. */
  timeOf: () => Clock;
  /** Performs one step of the campaign with `run`, for any outcome. */
  step: (run: (folder: string, time: Clock) => Promise<unknown>) => Promise<void>;
  /** Lets time pass and ends all faults. */
  settle: () => void;
}

async function inCampaign(seed: number, work: (campaign: Campaign) => Promise<void>): Promise<void> {
  const random = seeded(seed);
  const pick = <T>(values: readonly [T, ...T[]]): T =>
    values[Math.floor(random() * values.length)] ?? values[0];
  const root = await mkdtemp(join(tmpdir(), 'esign-campaign-'));
  const clock = fakeClock();
  const dateSkewMs = pick<number | 'no header'>([0, 0, 90 * MINUTE, -90 * MINUTE, 'no header']);
  const service = await FaultyService.start(clock, {
    // Including a late request, still less than the 60 s after which an envelope must be listed.
    listLagMs: pick([0, 1_000, 20_000, 40_000]),
    listMetadata: pick(['shown', 'null', 'empty', 'missing']),
    keys: pick(['kept', 'lower-cased']),
    order: pick(['newest-first', 'oldest-first', 'id']),
    dateSkewMs,
    createdSkewMs: pick([0, 0, -30 * MINUTE]),
    lateMs: pick([1_000, 8_000]),
  });
  const folderOf = (machine: string) => join(root, machine);
  // Without a Date header, a clock that is set while a run waits can't be detected.
  const offsets: [number, ...number[]] = dateSkewMs === 'no header' ? [0] : [0, 0, 2 * HOUR, -2 * HOUR];
  const timeOf = (): Clock => {
    const offset = pick(offsets);
    return { now: () => clock.now() + offset, sleep: clock.sleep };
  };
  const restore = async (from: string, to: string) => {
    await rm(folderOf(to), { recursive: true, force: true });
    await cp(folderOf(from), folderOf(to), { recursive: true }).catch(() => undefined);
  };
  try {
    await work({
      service,
      random,
      folderOf,
      timeOf,
      async step(run) {
        const step = pick(STEPS);
        if (step === 'save') return restore('one', 'copy');
        if (step === 'restore') await restore('copy', 'one');
        if (step === 'restore' || step === 'other machine') clock.time += LISTED_MS;
        const folder = folderOf(step === 'other machine' ? 'two' : 'one');
        const count = step === 'two processes' ? 2 : 1;
        const runs = Array.from({ length: count }, () => run(folder, timeOf()));
        await Promise.allSettled(runs);
        // The next machine knows only the list.
        if (step === 'other machine') clock.time += LISTED_MS;
      },
      settle() {
        service.behavior.fateOf = () => 'ok';
        clock.time += LISTED_MS;
      },
    });
  } catch (error) {
    throw new Error(`FAULT_SEED=${seed}`, { cause: error });
  } finally {
    await service.close();
    await rm(root, { recursive: true, force: true });
  }
}

const WANTED: EnvelopeInput = {
  templateId: 'tmpl_nda',
  signers: [{ email: 'ada@example.com', name: 'Ada' }],
  send: true,
};

/** One was sent. All others are canceled drafts. */
function expectOneLeft(envelopes: readonly Envelope[]): void {
  expect(envelopes.map(({ status }) => status).filter((status) => status !== 'CANCELLED')).toEqual(['SENT']);
}

/** Creates one envelope under one request ID, with every fault that the seed chooses. */
export function createThroughFaults(seed: number): Promise<void> {
  return inCampaign(seed, async ({ service, random, folderOf, timeOf, step, settle }) => {
    service.behavior.fateOf = () =>
      random() < 0.5 ? (FATES[Math.floor(random() * FATES.length)] ?? 'ok') : 'ok';
    const run = (folder: string, time: Clock) => {
      const memory = new LogFolder(logFolder(folder), time);
      const client = service.client(time, memory);
      return createOnce(client, createBody(WANTED, 'order-1'), { memory });
    };
    for (let steps = 0; steps < 8; steps++) {
      await step(run);
      expect(service.emails.length).toBeLessThanOrEqual(1);
    }
    settle();
    expect(await run(folderOf('one'), timeOf())).toMatchObject({ envelope: { status: 'SENT' } });
    expectOneLeft(service.stored.map(({ envelope }) => envelope));
    expect(service.emailsByAddress()).toEqual({ 'ada@example.com': 1 });
  });
}

/** Replaces one envelope, from two machines, with every fault that the seed chooses. */
export function replaceThroughLag(seed: number): Promise<void> {
  return inCampaign(seed, async ({ service, random, folderOf, timeOf, step, settle }) => {
    const old = await service.client().envelopes.create({
      templateId: 'tmpl_lease',
      signers: [{ email: 'adda@example.com', name: 'Ada' }],
      subject: 'Lease 5',
      // Shows that the service keeps request IDs. Without any, a lost create could never be decided.
      metadata: { esignRequestId: 'order-0' },
      sendImmediately: true,
    });
    service.behavior.fateOf = () =>
      random() < 0.4 ? (FATES[Math.floor(random() * FATES.length)] ?? 'ok') : 'ok';
    const run = (folder: string, time: Clock) => {
      const memory = new LogFolder(logFolder(folder), time);
      return replaceOnce({ client: service.client(time, memory), memory }, requestFor(old.id));
    };
    const sent = () =>
      service.stored.filter(({ envelope }) => replacedBy(envelope) === old.id && envelope.sentAt);
    for (let steps = 0; steps < 8; steps++) {
      await step(run);
      expect(sent().length).toBeLessThanOrEqual(1);
      expect(service.emailsByAddress()['ada@example.com'] ?? 0).toBeLessThanOrEqual(1);
    }
    settle();
    const done = await run(folderOf('one'), timeOf());
    expect([done.old.status, done.new.status]).toEqual(['CANCELLED', 'SENT']);
    expectOneLeft(service.stored.map(({ envelope }) => envelope).filter((one) => replacedBy(one) === old.id));
    expect(service.emailsByAddress()).toEqual({ 'adda@example.com': 1, 'ada@example.com': 1 });
  });
}
