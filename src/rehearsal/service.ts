import { join } from 'node:path';
import { type Client, createClient } from '../api/client.ts';
import type { Clock } from '../kernel/clock.ts';
import { type TemporaryFolder, temporaryFolder } from '../kernel/files/temporary-folder.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { StandIn } from '../templates/stand-ins.ts';

/** A sandbox that resembles the account, and a client for it that never really waits. */
export interface RehearsalService {
  sandbox: Sandbox;
  client: Client;
  clock: RehearsalClock;
  /** A temporary folder for the run and the state of the sandbox. */
  folder: string;
  /** Returns the number of requests that the client has made. */
  requests(): number;
  close(): Promise<void>;
}

export interface ServiceFacts {
  /** The service's time, in ms. */
  startsAt: number;
  standIns: readonly StandIn[];
  rate: { requests: number; seconds: number };
  reserve: number;
  userAgent: string;
}

const TIMEOUT_MS = 60_000;

/** Starts an ephemeral sandbox in this process. `close` removes everything. */
export async function startRehearsalService(facts: ServiceFacts): Promise<RehearsalService> {
  const temporary = await temporaryFolder('esign-rehearsal-');
  try {
    return await startIn(temporary, facts);
  } catch (error) {
    await temporary.remove();
    throw error;
  }
}

async function startIn(temporary: TemporaryFolder, facts: ServiceFacts): Promise<RehearsalService> {
  const { readSeed, startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox({
    dataDir: join(temporary.path, 'sandbox'),
    port: 0,
    rateLimit: facts.rate,
    startsAt: facts.startsAt,
    isFrozen: true,
    seed: await readSeed({ templates: [...facts.standIns] }),
    hasBuiltInTemplates: false,
    drawsDocuments: false,
  });
  try {
    return serviceOf(sandbox, temporary, facts);
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

function serviceOf(sandbox: Sandbox, temporary: TemporaryFolder, facts: ServiceFacts): RehearsalService {
  const clock = new RehearsalClock(facts.startsAt, (ms) => sandbox.control.advance(ms));
  let requests = 0;
  const client = createClient({
    baseUrl: sandbox.baseUrl,
    apiKey: sandbox.apiKey,
    timeoutMs: TIMEOUT_MS,
    userAgent: facts.userAgent,
    isDirect: true,
    clock,
    reserve: facts.reserve,
    maxWaitMs: Number.POSITIVE_INFINITY,
    windowFolder: join(temporary.path, 'rate'),
    onRequest: () => {
      requests++;
      return () => undefined;
    },
  });
  return {
    sandbox,
    client,
    clock,
    folder: temporary.path,
    requests: () => requests,
    close: async () => {
      try {
        await sandbox.close();
      } finally {
        await temporary.remove();
      }
    },
  };
}

/**
 * The clock of a rehearsed run. It doesn't advance on its own: a sleep advances the sandbox's time instead of waiting. So a rate
 * window of 15 minutes takes no real time, and the same run always takes the same simulated time.
 */
class RehearsalClock implements Clock {
  readonly #advance: (ms: number) => Promise<unknown>;
  #now: number;
  #queue: Promise<void> = Promise.resolve();

  /**
   * @param startsAt the time of the sandbox, whose clock is stopped, in ms
   * @param advance advances the sandbox's clock by this many ms
   */
  constructor(startsAt: number, advance: (ms: number) => Promise<unknown>) {
    this.#now = startsAt;
    this.#advance = advance;
  }

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.moveTo(this.now() + ms, signal);
  }

  /** Advances the time to this moment, in ms. Concurrent waits overlap instead of adding up. */
  async moveTo(moment: number, signal?: AbortSignal): Promise<void> {
    const move = async () => {
      signal?.throwIfAborted();
      const ms = Math.ceil(moment - this.now());
      if (ms <= 0) return;
      await this.#advance(ms);
      this.#now += ms;
    };
    const turn = this.#queue.then(move);
    this.#queue = turn.catch(() => undefined);
    await turn;
  }
}
