import { viewsOf } from './lists.ts';
import { canContinue, type Operation, type Request } from './operation.ts';
import { nameOf } from './process.ts';
import { routeOf } from './service.ts';
import type { Budgets } from './settings.ts';
import { troublesOf } from './trouble.ts';
import type { Option, Processing, Running, World } from './world.ts';

/** How much later than its creation an envelope's `createdAt` may be, in ms. */
const AHEAD_MS = 1_400;
/** How much time may pass while a process could continue, in ms. */
const PASSES_MS = [1_000, 2_000];
const BUDGETS = ['kills', 'wipes', 'losses', 'reruns', 'cancels', 'passes', 'slow', 'switches'] as const;

/** Takes the option and pays for it. */
export async function take(world: World, option: Option): Promise<void> {
  for (const budget of BUDGETS) world.left[budget] -= option.cost[budget] ?? 0;
  option.take(world);
  await world.settle();
}

/** Yields everything that may happen next. The first option is the ordinary course. */
export function* optionsOf(world: World): Generator<Option, void, undefined> {
  for (const option of ordinaryOptions(world)) if (isAffordable(option.cost, world.left)) yield option;
  for (const option of troublesOf(world)) if (isAffordable(option.cost, world.left)) yield option;
}

function isAffordable(cost: Partial<Budgets>, left: Budgets): boolean {
  for (const budget of BUDGETS) if ((cost[budget] ?? 0) > left[budget]) return false;
  return true;
}

function* ordinaryOptions(world: World): Generator<Option, void, undefined> {
  const continuing = [...continuingOptions(world)];
  yield* continuing;
  if (continuing.length === 0 && !world.haveAllEnded) yield* timeOptions(world);
  yield* lateOptions(world);
  if (continuing.length > 0) yield* passOptions(world);
  if (world.haveAllEnded)
    yield { who: 'all', says: 'nothing more happens', cost: {}, take: (taken) => taken.finish() };
}

function* continuingOptions(world: World): Generator<Option, void, undefined> {
  const { last, now, processes } = world;
  const isReady = ({ behavior }: Running) => behavior.operations.some((one) => canContinue(one, now));
  const canLastContinue = processes[last] !== undefined && isReady(processes[last]);
  for (const process of [...processes.slice(last), ...processes.slice(0, last)]) {
    const cost = canLastContinue && process.number !== last ? { switches: 1 } : {};
    for (const one of process.behavior.operations)
      if (canContinue(one, now)) yield* continueWith(world, process, one, cost);
  }
}

function* continueWith(
  world: World,
  process: Running,
  one: Operation,
  cost: Partial<Budgets>,
): Generator<Option, void, undefined> {
  const { number } = process;
  const goOn = (says: string, result: (taken: World) => Parameters<World['end']>[2]): Option => ({
    who: nameOf(number),
    says,
    cost,
    take: (taken) => {
      taken.last = number;
      taken.end(number, one.id, result(taken));
    },
  });
  if (one.kind === 'start' || one.kind === 'sleep') return yield goOn(one.says, () => ({ kind: 'none' }));
  if (one.kind === 'disk') return yield goOn(one.says, (taken) => taken.disk(number).do(one.work));
  const answer = process.answers.get(one.id);
  if (answer) return yield goOn(`gets the reply to ${one.says}`, () => ({ kind: 'answer', answer }));
  for (const { says, ...choice } of answersTo(world, process, one))
    yield goOn(`${one.says}${says}`, (taken) => ({
      kind: 'answer',
      answer: taken.process(number, one, choice),
    }));
}

/** Returns the ways in which the service may answer. */
function answersTo(
  { service, now, settings }: World,
  process: Running,
  { request }: Request,
): (Processing & { says: string })[] {
  const route = routeOf(request);
  if (route?.kind === 'list') return viewsOf(service.stored, now, settings.lag, process.lagMs);
  if (route?.kind === 'create' && settings.skew)
    return [{ says: '' }, { says: `, createdAt ${AHEAD_MS / 1_000} s ahead`, aheadMs: AHEAD_MS }];
  return [{ says: '' }];
}

/** Requests that nobody waits for may be processed now. */
function* lateOptions({ late }: World): Generator<Option, void, undefined> {
  for (const one of late)
    yield {
      who: 'late',
      says: `${one.request.says} of ${one.by} is processed`,
      cost: {},
      take: (taken) => {
        taken.late = taken.late.filter((other) => other !== one);
        taken.service.answer(one.request.request, taken.now);
      },
    };
}

/** Nobody can continue: time passes. */
function* timeOptions({ now, nextEvent }: World): Generator<Option, void, undefined> {
  if (nextEvent !== undefined) yield timePasses(now, nextEvent, {});
}

/** Time passes although somebody could continue. */
function* passOptions(world: World): Generator<Option, void, undefined> {
  const { now, left } = world;
  if (left.passes === 0) return;
  const { nextEvent = now, latestReply } = world;
  for (const time of new Set([...PASSES_MS.map((ms) => now + ms), nextEvent]))
    if (time > now && time <= latestReply) yield timePasses(now, time, { passes: 1 });
}

function timePasses(now: number, time: number, cost: Partial<Budgets>): Option {
  return {
    who: 'time',
    says: `${(time - now) / 1_000} s pass`,
    cost,
    take: (taken) => taken.advanceTo(time),
  };
}
