import { hash } from 'node:crypto';
import type { Actor } from './actor.ts';
import { withAmbient } from './ambient.ts';
import { Behaviors } from './behavior.ts';
import { optionsOf, take } from './options.ts';
import { nameOf } from './process.ts';
import type { Settings } from './settings.ts';
import { endOf } from './trail.ts';
import { type Option, VIOLATIONS, type Violation, World } from './world.ts';

/** What ends an exploration before all schedules are explored. */
export interface Limits {
  /** Real time. */
  seconds?: number | undefined;
  /** How often a schedule may differ from the ordinary course. It is raised step by step from 0. */
  deviations?: number | undefined;
  /** Ends with the first violation. */
  untilFound?: boolean | undefined;
}

export type FindingKind = Violation['kind'] | 'leftover';
export interface Finding {
  kind: FindingKind;
  says: string;
  choices: readonly number[];
}

export interface Report {
  /** Schedules that were explored, also those that ended in a state that had been explored. */
  schedules: number;
  states: number;
  pruned: number;
  ends: number;
  steps: number;
  /** Different histories of processes, and the observations for which the real code ran. */
  histories: number;
  observations: number;
  /** How the processes ended, over all ends. */
  outcomes: Map<string, number>;
  counts: Record<FindingKind, number>;
  /** The first finding of each kind, which has the fewest deviations. */
  findings: Finding[];
  /** The number of deviations up to which all schedules were explored. */
  deviations: number;
  /** All schedules were explored, whatever the number of deviations. */
  isComplete: boolean;
}

/** The longest schedule. */
const MOST_STEPS = 2_000;

/** A state on the current schedule, with the options that were not taken yet. */
interface Point {
  world: World;
  options: readonly Option[];
  /** The option that was taken last. */
  chosen: number;
  /** How many deviations are left. */
  left: number;
}

/** Explores the schedules of an actor, depth first, with more and more deviations from the ordinary course. */
export function explore(actor: Actor, settings: Settings, limits: Limits = {}): Promise<Report> {
  return withAmbient(() => new Exploration(actor, settings, limits).run());
}

class Exploration {
  readonly #settings: Settings;
  readonly #limits: Limits;
  readonly #behaviors: Behaviors;
  readonly #endsAt: number;
  /** The states that were explored, and how many deviations were left at most. */
  readonly #visited = new Map<string, number>();
  /** An option wasn't taken because no deviation was left. */
  #isBounded = false;
  readonly #report: Report = {
    schedules: 0,
    states: 0,
    pruned: 0,
    ends: 0,
    steps: 0,
    histories: 0,
    observations: 0,
    outcomes: new Map(),
    counts: { twice: 0, canceled: 0, lost: 0, stuck: 0, crashed: 0, leftover: 0 },
    findings: [],
    deviations: -1,
    isComplete: false,
  };

  constructor(actor: Actor, settings: Settings, limits: Limits) {
    this.#settings = settings;
    this.#limits = limits;
    this.#behaviors = new Behaviors(actor);
    this.#endsAt = performance.now() + (limits.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  }

  async run(): Promise<Report> {
    const report = this.#report;
    const most = this.#limits.deviations ?? Number.POSITIVE_INFINITY;
    for (let deviations = 0; deviations <= most && !report.isComplete; deviations = more(deviations)) {
      this.#isBounded = false;
      if (!(await this.#exploreAll(deviations))) break;
      report.deviations = deviations;
      report.isComplete = !this.#isBounded;
    }
    await this.#behaviors.end();
    report.states = this.#visited.size;
    report.histories = this.#behaviors.histories;
    report.observations = this.#behaviors.observations;
    return report;
  }

  /** Returns false if it ended before all was explored. */
  async #exploreAll(deviations: number): Promise<boolean> {
    const path: Point[] = [];
    const first = new World(this.#behaviors, this.#settings);
    await first.settle();
    this.#enter(path, first, deviations);
    for (let point = path.at(-1); point !== undefined; point = path.at(-1)) {
      const option = point.options[++point.chosen];
      if (option === undefined) path.pop();
      else {
        const world = point.world.copy();
        await take(world, option);
        this.#report.steps++;
        this.#enter(path, world, point.chosen === 0 ? point.left : point.left - 1);
        if (this.#isTimeUp()) return false;
      }
    }
    return true;
  }

  #isTimeUp(): boolean {
    const { counts, steps } = this.#report;
    if (this.#limits.untilFound && VIOLATIONS.some((kind) => counts[kind] > 0)) return true;
    return steps % 64 === 0 && performance.now() > this.#endsAt;
  }

  /** Adds a state to the path, unless its future is known, or it has none. */
  #enter(path: Point[], world: World, left: number): void {
    if (path.length > MOST_STEPS)
      world.violation ??= { kind: 'stuck', says: `it needs more than ${MOST_STEPS} steps` };
    const isEnd = world.violation !== undefined || world.isOver;
    const isNew = isEnd || this.#isNew(world, left);
    if (isNew && !isEnd) {
      path.push({ world, options: this.#optionsOf(world, left), chosen: -1, left });
      return;
    }
    this.#report.schedules++;
    if (isEnd)
      this.#judge(
        world,
        path.map(({ chosen }) => chosen),
      );
    else this.#report.pruned++;
  }

  #optionsOf(world: World, left: number): Option[] {
    const options = [...optionsOf(world)];
    if (left > 0 || options.length <= 1) return options;
    this.#isBounded = true;
    return options.slice(0, 1);
  }

  #isNew(world: World, left: number): boolean {
    const key = hash('sha1', world.key, 'base64url').slice(0, 16);
    if ((this.#visited.get(key) ?? -1) >= left) return false;
    this.#visited.set(key, left);
    return true;
  }

  #judge(world: World, choices: readonly number[]): void {
    const { outcomes } = this.#report;
    this.#report.ends++;
    const { violation, leftovers } = world;
    if (violation) this.#found({ ...violation, choices });
    else if (leftovers.length > 0)
      this.#found({ kind: 'leftover', says: `${leftovers.join(', ')} is left as a draft`, choices });
    const ends = world.processes.map(({ behavior: { ended } }) =>
      ended?.kind === 'failed' ? ended.error : (ended?.kind ?? 'running'),
    );
    const outcome = ends.sort().join(' and ');
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  #found(finding: Finding): void {
    if (this.#report.counts[finding.kind]++ === 0) this.#report.findings.push(finding);
  }
}

/** Returns the next number of deviations. Each exploration repeats the ones before, so the steps grow. */
function more(deviations: number): number {
  return deviations < 4 ? deviations + 1 : Math.ceil(deviations * 1.5);
}

/** One line of what happened. */
export interface TrailLine {
  /** Seconds since the start. */
  at: number;
  who: string;
  says: string;
}

/** Runs one schedule and returns what happens in it. */
export function replay(
  actor: Actor,
  settings: Settings,
  choices: readonly number[],
): Promise<{ trail: TrailLine[]; violation: Violation | undefined }> {
  return withAmbient(async () => {
    const behaviors = new Behaviors(actor);
    const world = new World(behaviors, settings);
    const trail: TrailLine[] = [];
    await world.settle();
    for (let at = 0; world.violation === undefined && !world.isOver && at <= MOST_STEPS; at++) {
      const [chosen, options] = [choices[at] ?? 0, [...optionsOf(world)]];
      const option = options[chosen];
      if (option === undefined)
        throw new Error(`The schedule doesn't fit: there is no option ${chosen} of ${options.length}.`);
      trail.push({ at: world.seconds, who: option.who, says: option.says });
      const before = world.processes.map(({ behavior }) => behavior.ended);
      await take(world, option);
      for (const { number, behavior } of world.processes)
        if (behavior.ended !== undefined && before[number] === undefined)
          trail.push({ at: world.seconds, who: nameOf(number), says: `ends: ${endOf(behavior.ended)}` });
    }
    const { violation } = world;
    await behaviors.end();
    return { trail, violation };
  });
}
