import type { Behavior, Behaviors } from './behavior.ts';
import { Disk } from './disk.ts';
import { canContinue, type Observation, type Operation, type Request, type Result } from './operation.ts';
import { nameOf, TIMEOUT_MS } from './process.ts';
import { type Answer, type Choice, Service } from './service.ts';
import type { Budgets, Settings } from './settings.ts';

/** One thing that may happen next. */
export interface Option {
  who: string;
  says: string;
  cost: Partial<Budgets>;
  /** Lets it happen in this world, which is one with the same state. */
  take(world: World): void;
}

/** What the service chooses when it processes a request. `lagMs`: see `View`. */
export type Processing = Choice & { lagMs?: number };

/** A process in a world. */
export interface Running {
  readonly number: number;
  behavior: Behavior;
  /** The replies on their way to it, by their operations. */
  answers: ReadonlyMap<number, Answer>;
  /** How much the last list that it read may have lagged behind, in ms. */
  lagMs: number;
}

/** A request that the service may still process although nobody waits for its reply. */
export interface Late {
  request: Request;
  by: string;
  /** After this time (ms), it certainly isn't processed anymore. */
  until: number;
}

/** What must never happen. */
export const VIOLATIONS = ['twice', 'canceled', 'lost', 'stuck', 'crashed'] as const;
export interface Violation {
  kind: (typeof VIOLATIONS)[number];
  says: string;
}

const NOTHING: Result = { kind: 'none' };
const START = Date.UTC(2026, 0, 2, 3, 4, 5);
/** A process that needs longer is stuck, in ms of the exploration's clock. */
const LONGEST_MS = 3_600_000;

/** A state of everything that is explored: the service, the machines, and the processes. */
export class World {
  readonly settings: Settings;
  readonly behaviors: Behaviors;
  service = new Service();
  processes: Running[] = [];
  left: Budgets;
  late: readonly Late[] = [];
  now = START;
  /** The process that continued last. */
  last = 0;
  /** All processes have ended, and no request is processed anymore. */
  isOver = false;
  violation: Violation | undefined;
  #disks: Disk[];
  #lives: number[];
  /** What a process is about to observe. */
  #observing: { number: number; observed: Observation } | undefined;

  constructor(behaviors: Behaviors, settings: Settings) {
    const { kills, wipes, losses, reruns, cancels, passes, slow, switches } = settings;
    this.settings = settings;
    this.behaviors = behaviors;
    this.left = { kills, wipes, losses, reruns, cancels, passes, slow, switches };
    this.#disks = Array.from({ length: settings.machines }, () => new Disk());
    this.#lives = Array.from({ length: settings.processes }, () => 0);
    for (let number = 0; number < settings.processes; number++) this.start(number);
  }

  copy(): World {
    const copy = Object.assign(new World(this.behaviors, { ...this.settings, processes: 0, machines: 0 }), {
      settings: this.settings,
      service: this.service.copy(),
      processes: this.processes.map((one) => ({ ...one })),
      left: { ...this.left },
      late: this.late,
      now: this.now,
      last: this.last,
      isOver: this.isOver,
      violation: this.violation,
    });
    copy.#disks = this.#disks.map((disk) => disk.copy());
    copy.#lives = [...this.#lives];
    return copy;
  }

  /** Starts a process, also again after it ended or was killed. */
  start(number: number): void {
    const life = this.#lives[number] ?? 0;
    this.#lives[number] = life + 1;
    const behavior = this.behaviors.start(number, life);
    this.processes[number] = { number, behavior, answers: new Map(), lagMs: Number.POSITIVE_INFINITY };
  }

  running(number: number): Running {
    const process = this.processes[number];
    if (process === undefined) throw new Error(`no process ${number}`);
    return process;
  }

  disk(number: number): Disk {
    const disk = this.#disks[number % this.#disks.length];
    if (disk === undefined) throw new Error(`no machine for process ${number}`);
    return disk;
  }

  /** Seconds since the start. */
  get seconds(): number {
    return (this.now - START) / 1_000;
  }

  get haveAllEnded(): boolean {
    return this.processes.every(({ behavior }) => behavior.ended !== undefined);
  }

  /** Everything that determines what can happen from now on. */
  get key(): string {
    const left: readonly number[] = Object.values<number>({ ...this.left });
    const parts: (string | number)[] = [this.now, this.last, ...this.#lives, ...left];
    for (const { key } of this.#disks) parts.push(key);
    for (const { behavior, answers, lagMs } of this.processes) {
      parts.push(behavior.history, lagMs);
      for (const [id, { text }] of answers) parts.push(id, text);
    }
    for (const { request, until } of this.late) parts.push(request.request.path, request.request.body, until);
    return `${parts.join(' ')} ${this.service.key}`;
  }

  /** Lets time pass. Requests that could have been processed until now are not processed anymore. */
  advanceTo(time: number): void {
    this.now = time;
    this.late = this.late.filter(({ until }) => until >= time);
  }

  /** The next time at which something happens by itself, in ms. */
  get nextEvent(): number | undefined {
    const sleeping = this.processes.flatMap(({ behavior }) =>
      behavior.operations.flatMap((one) => (one.kind === 'sleep' ? [one.until] : [])),
    );
    const times = [...sleeping, ...this.late.map(({ until }) => until)].filter((time) => time > this.now);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The latest time until which all requests under way are within their time limits, in ms. */
  get latestReply(): number {
    const requests = this.processes.flatMap(({ behavior }) =>
      behavior.operations.filter(({ kind }) => kind === 'request'),
    );
    return Math.min(...requests.map(({ since }) => since + TIMEOUT_MS));
  }

  /** Lets the service process a request of a process, and returns its answer. */
  process(number: number, { request }: Request, choice: Processing = {}): Answer {
    const process = this.running(number);
    process.lagMs = choice.lagMs ?? process.lagMs;
    return this.service.answer(request, this.now, choice);
  }

  /** Nobody waits for the reply to this request anymore, but it may still be processed. */
  leaveBehind(request: Request, number: number): void {
    this.late = [...this.late, { request, by: nameOf(number), until: request.since + TIMEOUT_MS }];
  }

  /** No request is processed anymore. */
  finish(): void {
    this.late = [];
    this.isOver = true;
  }

  /** Ends an operation of a process, which continues with `settle`. */
  end(number: number, id: number, result: Result): void {
    this.#observing = { number, observed: { id, result, now: this.now } };
  }

  /** Lets the process whose operation has ended continue, and then checks what must never happen. */
  async settle(): Promise<void> {
    const observing = this.#observing;
    this.#observing = undefined;
    if (observing) await this.#observe(this.running(observing.number), observing.observed);
    for (const process of this.processes)
      for (let unseen = this.#unseen(process); unseen; unseen = this.#unseen(process)) {
        const result = unseen.kind === 'disk' ? this.disk(process.number).do(unseen.work) : NOTHING;
        await this.#observe(process, { id: unseen.id, result, now: this.now });
      }
    this.violation ??= this.service.violation ?? this.#falseReport() ?? this.#endless();
  }

  async #observe(process: Running, observed: Observation): Promise<void> {
    const { behavior } = process;
    const next = this.behaviors.next(behavior, observed);
    process.behavior = next instanceof Promise ? await next : next;
    this.#takeAborted(process, behavior, observed.id);
  }

  /**
   * Returns an operation after which nothing has to be chosen, because no other process sees whether it happens now or just before the next
   * one: reading a disk that isn't shared; writing to it, and starting, if nothing can come between.
   */
  #unseen({ behavior }: Running): Operation | undefined {
    const { kills, passes } = this.left;
    const isPrivate = this.settings.machines >= this.settings.processes;
    return behavior.operations.find(
      (one) =>
        (one.kind === 'start' && passes === 0) ||
        (one.kind === 'disk' && isPrivate && (!one.isWrite || kills + passes === 0)),
    );
  }

  /** Replies that were waited for before, and not anymore, are gone; a request may still be processed. */
  #takeAborted(process: Running, before: Behavior, ended: number): void {
    const left = new Set(process.behavior.operations.map(({ id }) => id));
    for (const one of before.operations)
      if (
        one.kind === 'request' &&
        one.isWrite &&
        one.id !== ended &&
        !left.has(one.id) &&
        !process.answers.has(one.id)
      )
        this.leaveBehind(one, process.number);
    process.answers = new Map([...process.answers].filter(([id]) => left.has(id)));
  }

  #falseReport(): Violation | undefined {
    for (const { number, behavior } of this.processes) {
      const name = nameOf(number);
      const { ended } = behavior;
      if (ended?.kind === 'crashed') return { kind: 'crashed', says: `${name} crashed: ${ended.error}` };
      if (ended?.kind === 'stuck')
        return { kind: 'stuck', says: `${name} waits for nothing that is explored` };
      if (ended?.kind !== 'done') continue;
      const { sent } = ended.outcome;
      if (sent.length === 0)
        return { kind: 'lost', says: `${name} has ended well, and reports nothing as sent` };
      const unsent = sent.find(
        (id) => this.service.stored.find((one) => one.id === id)?.sentAt === undefined,
      );
      if (unsent !== undefined)
        return { kind: 'lost', says: `${name} reports ${unsent} as sent, which it isn't` };
    }
    return undefined;
  }

  #endless(): Violation | undefined {
    if (this.now - START > LONGEST_MS) return { kind: 'stuck', says: 'a process has waited for an hour' };
    const canGoOn =
      this.nextEvent !== undefined ||
      this.processes.some(({ behavior }) => behavior.operations.some((one) => canContinue(one, this.now)));
    return this.haveAllEnded || canGoOn ? undefined : { kind: 'stuck', says: 'no process can continue' };
  }

  /** The drafts that are left although all processes have ended without a failure. */
  get leftovers(): string[] {
    if (!this.processes.every(({ behavior }) => behavior.ended?.kind === 'done')) return [];
    return this.service.stored.filter(({ status }) => status === 'DRAFT').map(({ id }) => id);
  }
}
