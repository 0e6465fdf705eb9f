import { hash } from 'node:crypto';
import type { Actor } from './actor.ts';
import type { Observation, Operation } from './operation.ts';
import { type Ended, Process } from './process.ts';

/** What a process does after it has observed all this: the operations that it waits for, or its end. */
export interface Behavior {
  /** Identifies all that it has observed. */
  readonly history: string;
  readonly operations: readonly Operation[];
  readonly ended: Ended | undefined;
  readonly origin: Origin;
}

type Origin =
  | { kind: 'start'; number: number; life: number }
  | { kind: 'later'; before: Behavior; observed: Observation };

/** How many processes are kept in memory where they are, so that they can continue without beginning again. */
const MOST_LIVE = 64;
/** How many behaviors are remembered at most. Others are learned again. */
const MOST_KNOWN = 250_000;

/**
 * What the real code does, learned by running it. Code does the same whenever it observes the same, so it runs only once for each
 * history, however many schedules contain it.
 */
export class Behaviors {
  readonly #actor: Actor;
  readonly #known = new Map<string, Behavior>();
  /** Processes that wait where a behavior ends, the oldest first. */
  readonly #live = new Map<string, Process>();
  /** The number of histories that were learned, and of observations for which code ran. */
  histories = 0;
  observations = 0;

  constructor(actor: Actor) {
    this.#actor = actor;
  }

  /** Returns what a process does when it is started. `life`: how often it was started before. */
  start(number: number, life: number): Behavior {
    const history = `${number} ${life}`;
    return (
      this.#known.get(history) ??
      this.#keep(history, new Process(number, life, this.#actor), { kind: 'start', number, life })
    );
  }

  /** Returns what a process does after one more observation. It's a promise only if the code must run. */
  next(before: Behavior, observed: Observation): Behavior | Promise<Behavior> {
    const history = hash('sha1', `${before.history} ${textOf(observed)}`, 'base64url');
    return this.#known.get(history) ?? this.#learn(history, before, observed);
  }

  async #learn(history: string, before: Behavior, observed: Observation): Promise<Behavior> {
    const process = this.#live.get(before.history) ?? (await this.#runAgain(before));
    this.#live.delete(before.history);
    await process.observe(observed);
    this.observations++;
    const learned = this.#keep(history, process, { kind: 'later', before, observed });
    const [oldest] = this.#live;
    if (oldest !== undefined && this.#live.size > MOST_LIVE) {
      this.#live.delete(oldest[0]);
      await oldest[1].kill();
    }
    return learned;
  }

  #keep(history: string, process: Process, origin: Origin): Behavior {
    const behavior = { history, operations: process.operations, ended: process.ended, origin };
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(history, behavior);
    this.histories++;
    this.#live.set(history, process);
    return behavior;
  }

  /** Runs the code of a process from its start up to this behavior. */
  async #runAgain({ origin }: Behavior): Promise<Process> {
    if (origin.kind === 'start') return new Process(origin.number, origin.life, this.#actor);
    const process = await this.#runAgain(origin.before);
    await process.observe(origin.observed);
    this.observations++;
    return process;
  }

  /** Ends all processes. */
  async end(): Promise<void> {
    for (const process of this.#live.values()) await process.kill();
    this.#live.clear();
  }
}

function textOf({ id, now, result }: Observation): string {
  return `${id} ${now} ${result.kind === 'answer' ? result.answer.text : JSON.stringify(result)}`;
}
