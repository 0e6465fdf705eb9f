import type { Actor } from './actor.ts';
import { enter } from './ambient.ts';
import { Disk } from './disk.ts';
import { canContinue, type Request } from './operation.ts';
import { Process, TIMEOUT_MS } from './process.ts';
import { type Answer, type Choice, Service } from './service.ts';
import type { Budgets, Settings } from './settings.ts';

/** One thing that may happen next. */
export interface Option {
  who: string;
  says: string;
  cost: Partial<Budgets>;
  take(): void;
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

const START = Date.UTC(2026, 0, 2, 3, 4, 5);
/** A process that needs longer is stuck, in ms of the exploration's clock. */
const LONGEST_MS = 3_600_000;
/** How often code may do something else than wait for an operation, such as load a module, before it is stuck. */
const MOST_TURNS = 2_000;

/** One run of the explored processes. Everything in it is determined by the options that are chosen. */
export class World {
  readonly settings: Settings;
  readonly service: Service;
  readonly processes: Process[];
  readonly left: Budgets;
  late: Late[] = [];
  now = START;
  /** The process that continued last. */
  last = 0;
  /** All processes have ended, and no request is processed anymore. */
  isOver = false;
  violation: Violation | undefined;
  readonly #actor: Actor;
  readonly #lives: number[];
  readonly #readNow = () => this.now;

  constructor(actor: Actor, settings: Settings) {
    const { kills, wipes, losses, reruns, cancels, passes, slow, switches } = settings;
    this.#actor = actor;
    this.settings = settings;
    this.left = { kills, wipes, losses, reruns, cancels, passes, slow, switches };
    this.service = new Service(this.#readNow);
    const disks = Array.from({ length: settings.machines }, () => new Disk());
    this.#lives = Array.from({ length: settings.processes }, () => 0);
    this.processes = this.#lives.map((_, number) => this.#start(number, disks[number % disks.length] ?? new Disk()));
  }

  /** Starts a process again after it ended or was killed. */
  restart(process: Process): void {
    this.processes[process.number] = this.#start(process.number, process.disk);
  }

  #start(number: number, disk: Disk): Process {
    const life = this.#lives[number] ?? 0;
    this.#lives[number] = life + 1;
    const sharesDisk = this.settings.machines < this.settings.processes;
    return new Process({ number, life, disk, sharesDisk, now: this.#readNow }, this.#actor);
  }

  /** Seconds since the start. */
  get seconds(): number {
    return (this.now - START) / 1_000;
  }

  get haveAllEnded(): boolean {
    return this.processes.every(({ ended }) => ended !== undefined);
  }

  /** Everything that determines what can happen from now on. */
  get key(): string {
    const disks = this.processes.map(({ disk }) => disk.key);
    const late = this.late.map(({ request, until }) => [request.request, until]);
    const processes = this.processes.map(({ key }) => key);
    return JSON.stringify([this.now, this.service.key, disks, processes, late, this.left, this.last, this.#lives]);
  }

  /** Lets time pass. Requests that could have been processed until now are not processed anymore. */
  advanceTo(time: number): void {
    this.now = time;
    this.late = this.late.filter(({ until }) => until >= time);
  }

  /** Returns the next time at which something happens by itself, in ms. */
  get nextEvent(): number | undefined {
    const sleeping = this.processes.flatMap(({ pending }) =>
      pending.flatMap((one) => (one.kind === 'sleep' ? [one.until] : [])),
    );
    const times = [...sleeping, ...this.late.map(({ until }) => until)].filter((time) => time > this.now);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns the latest time until which all requests under way are within their time limits, in ms. */
  get latestReply(): number {
    const requests = this.processes.flatMap(({ pending }) => pending.filter(({ kind }) => kind === 'request'));
    return Math.min(...requests.map(({ since }) => since + TIMEOUT_MS));
  }

  /** The request isn't answered, but may still be processed. */
  leaveBehind(request: Request, by: string): void {
    this.late.push({ request, by, until: request.since + TIMEOUT_MS });
  }

  /** Waits until each process waits for an operation or has ended, and then checks what must never happen. */
  async settle(): Promise<void> {
    for (let turn = 0; ; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.processes.every(({ pending, ended }) => pending.length > 0 || ended !== undefined)) break;
      if (turn > MOST_TURNS) {
        this.violation ??= { kind: 'stuck', says: 'a process waits for nothing that the explorer knows' };
        return;
      }
    }
    this.violation ??= this.service.violation ?? this.#falseReport() ?? this.#endless();
  }

  #falseReport(): Violation | undefined {
    for (const { name, ended } of this.processes) {
      if (ended?.kind === 'crashed') return { kind: 'crashed', says: `${name} crashed: ${ended.error}` };
      if (ended?.kind !== 'done') continue;
      const { sent } = ended.outcome;
      if (sent.length === 0) return { kind: 'lost', says: `${name} has ended well, and reports nothing as sent` };
      const unsent = sent.find((id) => this.service.stored.find((one) => one.id === id)?.sentAt === undefined);
      if (unsent !== undefined) return { kind: 'lost', says: `${name} reports ${unsent} as sent, which it isn't` };
    }
    return undefined;
  }

  #endless(): Violation | undefined {
    if (this.now - START > LONGEST_MS) return { kind: 'stuck', says: 'a process has waited for an hour' };
    const canGoOn =
      this.nextEvent !== undefined ||
      this.processes.some(({ pending }) => pending.some((one) => canContinue(one, this.now)));
    return this.haveAllEnded || canGoOn ? undefined : { kind: 'stuck', says: 'no process can continue' };
  }

  /** Returns the drafts that are left although all processes have ended without a failure. */
  get leftovers(): string[] {
    if (!this.processes.every(({ ended }) => ended?.kind === 'done')) return [];
    return this.service.stored.filter(({ status }) => status === 'DRAFT').map(({ id }) => id);
  }

  /** Ends what is still running, so that nothing of it is left in memory. */
  async end(): Promise<void> {
    for (const process of this.processes) process.kill();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** No request is processed anymore. */
  finish(): void {
    this.late = [];
    this.isOver = true;
  }

  /** Kills a process and starts it again. */
  kill(process: Process): void {
    process.kill();
    this.restart(process);
    enter(process);
  }
}

/** Lets the service process a request of a process, and returns its answer. */
export function processed(
  { service }: World,
  process: Process,
  { request }: Request,
  choice: Choice & { lagMs?: number } = {},
): Answer {
  for (const one of service.stored) one.wasListed ||= choice.shown?.has(one.id) ?? false;
  process.lagMs = choice.lagMs ?? process.lagMs;
  return service.answer(request, choice);
}
