import { setMaxListeners } from 'node:events';
import { type Client, createClient } from '../../src/api/client.ts';
import { createAgent } from '../../src/api/connection/undici.ts';
import { ServiceClock } from '../../src/api/service-clock.ts';
import { abortReason, type Clock } from '../../src/kernel/clock.ts';
import { EsignError } from '../../src/kernel/errors.ts';
import { recordingGate } from '../../src/log/recording-gate.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import type { Actor, Journal, Outcome } from './actor.ts';
import { enter, randomFrom } from './ambient.ts';
import type { DiskWork, Observation, Operation, Result, Task } from './operation.ts';
import type { ServiceRequest } from './service.ts';

/** The time limit of a request, in ms. */
export const TIMEOUT_MS = 30_000;
const BASE_URL = 'https://api.example.com/api/v1';
const LOST = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
const KILLED = new Error('killed');
/** A process that was killed can't do anything; code that keeps trying is left alone after this number of failures. */
const MOST_FAILURES = 100;
/** How often code may do something else than wait for an operation, such as load a module, before it is stuck. */
const MOST_TURNS = 2_000;

/** How a process ended. `error`: its code, for a failure; its text, for an error that isn't one of esign's. */
export type Ended =
  | { kind: 'done'; outcome: Outcome }
  | { kind: 'failed' | 'crashed'; error: string }
  /** It waits for something that the explorer doesn't know. */
  | { kind: 'stuck' };

const encoder = new TextEncoder();

/** The real code of one process, which waits for operations, one or several at a time. */
export class Process {
  ended: Ended | undefined;
  readonly random: () => number;
  readonly now = () => this.#time;
  readonly #name: string;
  readonly #pending = new Map<
    number,
    { operation: Operation; settle(result: Result): void; fail(error: Error): void }
  >();
  #time = 0;
  #operations = 0;
  #failures: number | undefined;

  /** `life`: how often this process was started before. */
  constructor(number: number, life: number, actor: Actor) {
    this.#name = nameOf(number);
    this.random = randomFrom(number * 1_000 + life);
    this.#run(actor).then(
      (outcome) => this.#end({ kind: 'done', outcome }),
      (error: unknown) => this.#end(failureOf(error)),
    );
  }

  get operations(): Operation[] {
    return [...this.#pending.values()].map(({ operation }) => operation);
  }

  /** Ends an operation, and lets the code run until it waits for others. */
  async observe({ id, result, now }: Observation): Promise<void> {
    this.#time = now;
    enter(this);
    const waiting = this.#pending.get(id);
    if (waiting === undefined)
      throw new Error(`${this.#name} isn't deterministic: it has no operation ${id}.`);
    waiting.settle(result);
    await promisesDone();
    for (let turn = 0; this.#pending.size === 0 && this.ended === undefined; turn++) {
      if (turn > MOST_TURNS) this.#end({ kind: 'stuck' });
      await nextTurn();
    }
  }

  /** Ends the process where it is. Its code gets an error for whatever it waits for, and for all it tries from now on. */
  async kill(): Promise<void> {
    this.#failures = 0;
    enter(this);
    for (const { fail } of [...this.#pending.values()]) fail(KILLED);
    await nextTurn();
  }

  #end(ended: Ended): void {
    this.ended ??= ended;
  }

  async #run(actor: Actor): Promise<Outcome> {
    await this.#wait({ kind: 'start' }, 'starts', () => undefined);
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    const [clock, memory] = [this.#clock(), this.#memory()];
    const client = this.#client(clock, memory);
    return actor({ name: this.#name, client, memory, journal: this.#journal(), clock, signal });
  }

  /** Waits for an operation. `read` returns what the code gets from its result. An aborted signal ends the wait. */
  #wait<T>(task: Task, says: string, read: (result: Result) => T, signal?: AbortSignal): Promise<T> {
    if (this.#failures !== undefined)
      return this.#failures++ < MOST_FAILURES ? Promise.reject(KILLED) : new Promise(() => undefined);
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    const id = this.#operations++;
    return new Promise<T>((resolve, reject) => {
      const fail = (error: Error) => {
        if (this.#pending.delete(id)) reject(error);
      };
      const settle = (result: Result) => {
        this.#pending.delete(id);
        if (result.kind === 'lost') reject(LOST);
        else resolve(read(result));
      };
      this.#pending.set(id, { operation: { id, says, since: this.#time, ...task }, settle, fail });
      signal?.addEventListener('abort', () => fail(abortReason(signal)), { once: true });
    });
  }

  #clock(): Clock {
    return {
      now: this.now,
      sleep: (ms, signal) => {
        const task: Task = { kind: 'sleep', until: this.#time + ms };
        return this.#wait(task, `wakes after ${ms / 1_000} s`, () => undefined, signal);
      },
    };
  }

  #write(says: string, work: DiskWork): Promise<void> {
    return this.#wait({ kind: 'disk', isWrite: true, work }, says, () => undefined);
  }

  #read<T>(says: string, work: DiskWork, read: (result: Result) => T): Promise<T> {
    return this.#wait({ kind: 'disk', isWrite: false, work }, says, read);
  }

  #memory(): WriteMemory {
    return {
      append: (records) => {
        const what = records.map(({ type, action = '' }) => `${type} ${action}`).join(', ');
        return this.#write(`logs ${what}`, { kind: 'log', records });
      },
      find: (hashes) =>
        this.#read('looks into the log', { kind: 'find', hashes }, (result) =>
          result.kind === 'writes' ? [...result.writes] : [],
        ),
    };
  }

  #journal(): Journal {
    return {
      append: (lines) => this.#write(`writes to the journal: ${lines.join(' | ')}`, { kind: 'write', lines }),
      sync: () => this.#write('syncs the journal', { kind: 'sync' }),
      read: () =>
        this.#read('reads the journal', { kind: 'read' }, (result) =>
          result.kind === 'lines' ? result.lines : [],
        ),
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
        Promise.resolve(
          recordingGate({ memory, facts, clock, serviceNow, timeoutMs: TIMEOUT_MS, onIncomplete }),
        ),
    });
  }

  async #request({ method, path, body, signal }: Asked) {
    const request = { method, path, body: typeof body === 'string' ? body : '' };
    const says = `${method} ${path.replace('/api/v1/esign', '').replace(/\?.*/, '')}`;
    const { status, text } = await this.#wait(
      { kind: 'request', request, isWrite: method !== 'GET' },
      says,
      (result) => (result.kind === 'answer' ? result.answer : { status: 204, text: '' }),
      signal instanceof AbortSignal ? signal : undefined,
    );
    return { statusCode: status, headers: {}, body: [encoder.encode(text)] };
  }
}

/** The parts of undici's options that are used. */
type Asked = Pick<ServiceRequest, 'method' | 'path'> & { body?: unknown; signal?: unknown };

/** Returns A, B, C. */
export function nameOf(number: number): string {
  return String.fromCharCode(65 + number);
}

function failureOf(error: unknown): Ended {
  if (error instanceof EsignError) return { kind: 'failed', error: error.code };
  return { kind: 'crashed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** Resolves when all code that waits only for resolved promises has run. */
function promisesDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
