import { hash } from 'node:crypto';
import { type Client, createClient } from '../../src/api/client.ts';
import { ServiceClock } from '../../src/api/service-clock.ts';
import { createAgent } from '../../src/api/undici.ts';
import { abortReason, type Clock } from '../../src/kernel/clock.ts';
import { EsignError } from '../../src/kernel/errors.ts';
import { recordingGate } from '../../src/log/recording-gate.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import type { Actor, Outcome } from './actor.ts';
import { enter, randomFrom } from './ambient.ts';
import type { Disk, Journal } from './disk.ts';
import type { Operation } from './operation.ts';
import type { Answer, ServiceRequest } from './service.ts';

/** The time limit of a request, in ms. */
export const TIMEOUT_MS = 30_000;
const BASE_URL = 'https://api.example.com/api/v1';
/** A process that was killed can't do anything; code that keeps trying is left alone after this number of failures. */
const MOST_FAILURES = 100;

/** How a process ended. `error`: its code, for a failure; its text, for an error that isn't one of esign's. */
export type Ended =
  | { kind: 'done'; outcome: Outcome }
  | { kind: 'failed'; error: string }
  | { kind: 'crashed'; error: string };

class Killed extends Error {
  override message = 'killed';
}

/** Counts all processes of all runs, because calls for the same place would wait for those of earlier runs. */
let places = 0;
const encoder = new TextEncoder();

/** One process from its start to its end: code that waits for operations, one after another or several at once. */
export class Process {
  readonly name: string;
  readonly number: number;
  readonly disk: Disk;
  readonly pending: Operation[] = [];
  ended: Ended | undefined;
  /** Identifies all that it has observed. Equal processes with equal histories do the same. */
  history: string;
  /** How much the last list that it read may have lagged behind, in ms. */
  lagMs = Number.POSITIVE_INFINITY;
  readonly random: () => number;
  readonly now: () => number;
  readonly #sharesDisk: boolean;
  #failures: number | undefined;

  /** `life`: how often this process was started before. */
  constructor(
    { number, life, disk, sharesDisk, now }: { number: number; life: number; disk: Disk; sharesDisk: boolean; now: () => number },
    actor: Actor,
  ) {
    this.name = String.fromCharCode(65 + number);
    this.number = number;
    this.disk = disk;
    this.now = now;
    this.#sharesDisk = sharesDisk;
    this.history = `${this.name}${life}`;
    this.random = randomFrom(number * 1_000 + life);
    this.#run(actor).then(
      (outcome) => this.#end({ kind: 'done', outcome }),
      (error: unknown) => this.#end(failureOf(error)),
    );
  }

  /** Everything that determines what it will do. */
  get key(): unknown {
    const waiting = this.pending.map((one) => (one.kind === 'request' ? one.answer?.text : undefined) ?? one.since);
    return [this.history, this.ended, this.lagMs, waiting];
  }

  /** Ends the process where it is. Its code gets an error for whatever it waits for, and for all it tries from now on. */
  kill(): void {
    this.#failures = 0;
    enter(this);
    for (const operation of [...this.pending]) operation.fail(new Killed());
  }

  #end(ended: Ended): void {
    this.ended ??= ended;
  }

  async #run(actor: Actor): Promise<Outcome> {
    await this.#wait<void>((resolve) => ({ kind: 'start', says: 'starts', go: () => resolve(undefined, 'start') }));
    const { signal } = new AbortController();
    const [clock, memory] = [this.#clock(), this.#memory()];
    const client = this.#client(clock, memory);
    return actor({ name: this.name, client, memory, journal: this.#journal(), clock, signal });
  }

  /** Waits for an operation. `resolve` takes what the code gets, and what identifies it. */
  #wait<T>(
    make: (resolve: (value: T, observation: string) => void) => DistributiveOmit<Operation, 'since' | 'fail'>,
  ): Promise<T> & { operation?: Operation } {
    if (this.#failures !== undefined)
      return this.#failures++ < MOST_FAILURES ? Promise.reject(new Killed()) : new Promise(() => undefined);
    return new Promise<T>((resolve, reject) => {
      const settle = () => {
        const at = this.pending.indexOf(operation);
        if (at >= 0) this.pending.splice(at, 1);
        enter(this);
      };
      const operation: Operation = {
        ...make((value, observation) => {
          settle();
          this.#observe(observation);
          resolve(value);
        }),
        since: this.now(),
        fail: (error) => {
          settle();
          this.#observe(error.message);
          reject(error);
        },
      };
      this.pending.push(operation);
    });
  }

  #observe(what: string): void {
    this.history = hash('sha1', `${this.history} ${this.now()} ${what}`, 'base64url');
  }

  #clock(): Clock {
    return {
      now: this.now,
      sleep: (ms, signal) => {
        if (signal?.aborted) return Promise.reject(abortReason(signal));
        const until = this.now() + ms;
        const sleeping = this.#wait<void>((resolve) => ({
          kind: 'sleep',
          says: `wakes after ${ms / 1_000} s`,
          until,
          go: () => resolve(undefined, 'woke'),
        }));
        this.#failOnAbort(signal);
        return sleeping;
      },
    };
  }

  /** Lets the operation that was just begun fail when a signal aborts. */
  #failOnAbort(signal: AbortSignal | undefined): void {
    const operation = this.pending.at(-1);
    signal?.addEventListener('abort', () => {
      if (operation !== undefined && this.pending.includes(operation)) operation.fail(abortReason(signal));
    });
  }

  #onDisk<T>(says: string, isWrite: boolean, work: () => T): Promise<T> {
    // A disk of its own looks the same to a process whenever it reads.
    if (!isWrite && !this.#sharesDisk && this.#failures === undefined) {
      const found = work();
      this.#observe(JSON.stringify(found));
      return Promise.resolve(found);
    }
    return this.#wait<T>((resolve) => ({
      kind: 'disk',
      says,
      isWrite,
      keep: () => void work(),
      go: () => {
        const found = work();
        resolve(found, JSON.stringify(found) ?? '');
      },
    }));
  }

  #memory(): WriteMemory {
    return {
      place: `${this.name} ${places++}`,
      append: (records) => {
        const what = records.map(({ type, action = '' }) => `${type} ${action}`).join(', ');
        return this.#onDisk(`logs ${what}`, true, () => this.disk.take(records));
      },
      find: (hashes) => this.#onDisk('looks into the log', false, () => this.disk.find(hashes)),
    };
  }

  #journal(): Journal {
    return {
      append: (lines) => this.#onDisk(`writes to the journal: ${lines.join(' | ')}`, true, () => this.disk.write(lines)),
      sync: () => this.#onDisk('syncs the journal', true, () => this.disk.sync()),
      read: () => this.#onDisk('reads the journal', false, () => this.disk.lines),
    };
  }

  #client(clock: Clock, memory: WriteMemory): Client {
    const serviceClock = new ServiceClock(clock, this.now);
    const facts = { user: 'ada', profile: null, baseUrl: BASE_URL, command: 'explore' };
    const serviceNow = () => serviceClock.now();
    const onIncomplete = () => undefined;
    return createClient({
      baseUrl: BASE_URL,
      apiKey: 'sk_test_0123456789',
      timeoutMs: TIMEOUT_MS,
      userAgent: 'esign-test',
      clock,
      serviceClock,
      random: () => 0.5,
      dispatcher: Object.assign(createAgent({}), { request: (asked: Asked) => this.#request(asked) }),
      gate: () =>
        Promise.resolve(recordingGate({ memory, facts, clock, serviceNow, timeoutMs: TIMEOUT_MS, onIncomplete })),
    });
  }

  async #request({ method, path, body, signal }: Asked) {
    const request = { method, path, body: typeof body === 'string' ? body : '' };
    const answering = this.#wait<Answer>((resolve) => ({
      kind: 'request',
      says: `${method} ${path.replace('/api/v1/esign', '').replace(/\?.*/, '')}`,
      request,
      isWrite: method !== 'GET',
      answer: undefined,
      reply: (answer) => resolve(answer, answer.text),
    }));
    if (signal instanceof AbortSignal) this.#failOnAbort(signal);
    const { status, text } = await answering;
    return { statusCode: status, headers: {}, body: [encoder.encode(text)] };
  }
}

/** The parts of undici's options that are used. */
type Asked = Pick<ServiceRequest, 'method' | 'path'> & { body?: unknown; signal?: unknown };

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

function failureOf(error: unknown): Ended {
  if (error instanceof EsignError) return { kind: 'failed', error: error.code };
  return { kind: 'crashed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
