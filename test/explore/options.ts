import { canContinue, type Operation, type Request } from './operation.ts';
import { viewsOf } from './lists.ts';
import type { Process } from './process.ts';
import { type Choice, routeOf } from './service.ts';
import type { Budgets } from './settings.ts';
import { troublesOf } from './trouble.ts';
import { type Option, processed, type World } from './world.ts';

/** How much later than its creation an envelope's `createdAt` may be, in ms. */
const AHEAD_MS = 1_400;
/** How much time may pass while a process could continue, in ms. */
const PASSES_MS = [1_000, 2_000];

/** Returns everything that may happen next. The first option is the ordinary course. */
export function optionsOf(world: World): Option[] {
  const { last, processes } = world;
  const inOrder = [...processes.slice(last), ...processes.slice(0, last)];
  const canLastContinue = processes[last]?.pending.some((one) => canContinue(one, world.now)) ?? false;
  const continuing = inOrder.flatMap((process) => {
    const cost = canLastContinue && process.number !== last ? { switches: 1 } : {};
    return process.pending.flatMap((one) => continueWith(world, process, one, cost));
  });
  const late = lateOptions(world);
  const ordinary = world.haveAllEnded
    ? [...late, { who: 'all', says: 'nothing more happens', cost: {}, take: () => world.finish() }]
    : continuing.length > 0
      ? [...continuing, ...late, ...passOptions(world)]
      : [...timeOptions(world), ...late];
  return [...ordinary, ...troublesOf(world)].filter(({ cost }) => isAffordable(cost, world.left));
}

function isAffordable(cost: Partial<Budgets>, left: Budgets): boolean {
  return BUDGETS.every((budget) => (cost[budget] ?? 0) <= left[budget]);
}

const BUDGETS = ['kills', 'wipes', 'losses', 'reruns', 'cancels', 'passes', 'slow', 'switches'] as const;

/** Takes the option and pays for it. */
export function take(world: World, option: Option): void {
  for (const budget of BUDGETS) world.left[budget] -= option.cost[budget] ?? 0;
  option.take();
}

function continueWith(world: World, process: Process, one: Operation, cost: Partial<Budgets>): Option[] {
  if (!canContinue(one, world.now)) return [];
  const { name: who } = process;
  const goOn = (says: string, go: () => void): Option => ({
    who,
    says,
    cost,
    take: () => {
      world.last = process.number;
      go();
    },
  });
  if (one.kind !== 'request') return [goOn(one.says, () => one.go())];
  const { answer } = one;
  if (answer !== undefined) return [goOn(`gets the reply to ${one.says}`, () => one.reply(answer))];
  return answersTo(world, process, one).map(({ says, ...choice }) =>
    goOn(`${one.says}${says}`, () => one.reply(processed(world, process, one, choice))),
  );
}

type Told = Choice & { says: string; lagMs?: number };

/** Returns the ways in which the service may answer. */
function answersTo({ service, now, settings }: World, process: Process, { request }: Request): Told[] {
  const route = routeOf(request);
  if (route?.kind === 'list') return viewsOf(service.stored, now, settings.lag, process.lagMs);
  if (route?.kind === 'create' && settings.skew)
    return [{ says: '' }, { says: `, createdAt ${AHEAD_MS / 1_000} s ahead`, aheadMs: AHEAD_MS }];
  return [{ says: '' }];
}

/** Requests that nobody waits for may be processed now. */
function lateOptions(world: World): Option[] {
  return world.late.map((late) => ({
    who: 'late',
    says: `${late.request.says} of ${late.by} is processed`,
    cost: {},
    take: () => {
      world.late = world.late.filter((one) => one !== late);
      world.service.answer(late.request.request);
    },
  }));
}

/** Nobody can continue: time passes. */
function timeOptions(world: World): Option[] {
  const { nextEvent } = world;
  return nextEvent === undefined ? [] : [timePasses(world, nextEvent, {})];
}

/** Time passes although somebody could continue. */
function passOptions(world: World): Option[] {
  const { now, nextEvent = now, latestReply } = world;
  const times = new Set([...PASSES_MS.map((ms) => now + ms), nextEvent]);
  return [...times]
    .filter((time) => time > now && time <= latestReply)
    .map((time) => timePasses(world, time, { passes: 1 }));
}

function timePasses(world: World, time: number, cost: Partial<Budgets>): Option {
  const says = `${(time - world.now) / 1_000} s pass`;
  return { who: 'time', says, cost, take: () => world.advanceTo(time) };
}
