import { hash } from 'node:crypto';
import type { Actor } from './actor.ts';
import { withAmbient } from './ambient.ts';
import { optionsOf, take } from './options.ts';
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
  /** Schedules that were run, also those that ended in a state that had been explored. */
  runs: number;
  states: number;
  pruned: number;
  ends: number;
  steps: number;
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

/** A step of the current schedule. */
interface Step {
  chosen: number;
  count: number;
}

/** Explores the schedules of an actor, depth first, with more and more deviations from the ordinary course. */
export function explore(actor: Actor, settings: Settings, limits: Limits = {}): Promise<Report> {
  return withAmbient(() => new Exploration(actor, settings, limits).run());
}

class Exploration {
  readonly #actor: Actor;
  readonly #settings: Settings;
  readonly #limits: Limits;
  readonly #endsAt: number;
  /** The states that were explored, and how many deviations were left at most. */
  readonly #visited = new Map<string, number>();
  /** An option wasn't taken because no deviation was left. */
  #isBounded = false;
  readonly #report: Report = {
    runs: 0,
    states: 0,
    pruned: 0,
    ends: 0,
    steps: 0,
    outcomes: new Map(),
    counts: { twice: 0, canceled: 0, lost: 0, stuck: 0, crashed: 0, leftover: 0 },
    findings: [],
    deviations: -1,
    isComplete: false,
  };

  constructor(actor: Actor, settings: Settings, limits: Limits) {
    this.#actor = actor;
    this.#settings = settings;
    this.#limits = limits;
    this.#endsAt = performance.now() + (limits.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  }

  async run(): Promise<Report> {
    const most = this.#limits.deviations ?? Number.POSITIVE_INFINITY;
    for (let deviations = 0; deviations <= most && !this.#report.isComplete; deviations++) {
      this.#isBounded = false;
      if (!(await this.#exploreAll(deviations))) break;
      this.#report.deviations = deviations;
      this.#report.isComplete = !this.#isBounded;
    }
    this.#report.states = this.#visited.size;
    return this.#report;
  }

  /** Returns false if it ended before all was explored. */
  async #exploreAll(deviations: number): Promise<boolean> {
    const path: Step[] = [];
    do {
      await this.#runOne(path, deviations);
      if (performance.now() > this.#endsAt) return false;
      if (this.#limits.untilFound && VIOLATIONS.some((kind) => this.#report.counts[kind] > 0)) return false;
    } while (nextPath(path));
    return true;
  }

  /** Runs a schedule that begins with this path, and adds its further steps to it. */
  async #runOne(path: Step[], deviations: number): Promise<void> {
    const world = new World(this.#actor, this.#settings);
    this.#report.runs++;
    await world.settle();
    let left = deviations;
    const given = path.length;
    for (let at = 0; world.violation === undefined && !world.isOver; at++) {
      if (at >= given && !this.#isNew(world, left)) {
        this.#report.pruned++;
        return world.end();
      }
      const step = path[at] ?? { chosen: 0, count: 0 };
      const options = optionsOf(world);
      if (at >= given) {
        if (left === 0 && options.length > 1) this.#isBounded = true;
        step.count = left === 0 ? 1 : options.length;
        path.push(step);
      }
      if (step.chosen > 0) left--;
      take(world, chosenOf(options, step.chosen));
      await world.settle();
      this.#report.steps++;
      if (at > MOST_STEPS) world.violation ??= { kind: 'stuck', says: `it needs more than ${MOST_STEPS} steps` };
    }
    this.#judge(world, path.map(({ chosen }) => chosen));
    return world.end();
  }

  #isNew(world: World, left: number): boolean {
    const key = hash('sha1', world.key, 'base64url').slice(0, 16);
    if ((this.#visited.get(key) ?? -1) >= left) return false;
    this.#visited.set(key, left);
    return true;
  }

  #judge(world: World, choices: readonly number[]): void {
    this.#report.ends++;
    const { violation, leftovers } = world;
    if (violation) this.#found({ ...violation, choices });
    else if (leftovers.length > 0)
      this.#found({ kind: 'leftover', says: `${leftovers.join(', ')} is left as a draft`, choices });
    const ends = world.processes.map(({ ended }) => (ended?.kind === 'failed' ? ended.error : (ended?.kind ?? 'running')));
    const outcome = ends.sort().join(' and ');
    this.#report.outcomes.set(outcome, (this.#report.outcomes.get(outcome) ?? 0) + 1);
  }

  #found(finding: Finding): void {
    if (this.#report.counts[finding.kind]++ === 0) this.#report.findings.push(finding);
  }
}

/** Changes the path to the next one, depth first. Returns false if there is none. */
function nextPath(path: Step[]): boolean {
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    if (++step.chosen < step.count) return true;
    path.pop();
  }
  return false;
}

function chosenOf(options: readonly Option[], chosen: number): Option {
  const option = options[chosen];
  if (option === undefined) throw new Error(`The schedule doesn't fit: there is no option ${chosen} of ${options.length}.`);
  return option;
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
    const world = new World(actor, settings);
    const trail: TrailLine[] = [];
    await world.settle();
    for (let at = 0; world.violation === undefined && !world.isOver && at <= MOST_STEPS; at++) {
      const option = chosenOf(optionsOf(world), choices[at] ?? 0);
      trail.push({ at: world.seconds, who: option.who, says: option.says });
      const before = world.processes.map(({ ended }) => ended);
      take(world, option);
      await world.settle();
      for (const { name, ended, number } of world.processes)
        if (ended !== undefined && before[number] === undefined)
          trail.push({ at: world.seconds, who: name, says: `ends: ${endOf(ended)}` });
    }
    const { violation } = world;
    await world.end();
    return { trail, violation };
  });
}
