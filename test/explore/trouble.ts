import type { Operation, Request } from './operation.ts';
import { nameOf } from './process.ts';
import type { Option, Running, World } from './world.ts';

/** Yields everything that may go wrong now. */
export function* troublesOf(world: World): Generator<Option, void, undefined> {
  const { processes, left } = world;
  for (const process of processes) {
    const open = left.losses + left.slow > 0 ? openRequests(process) : [];
    for (const one of open) yield* lossesOf(process, one);
    for (const one of open) yield slowReply(process, one);
    if (left.kills > 0) yield* killsOf(world, process);
    if (left.reruns > 0) yield* rerunOf(process);
  }
  if (left.cancels > 0) yield* cancelsByHand(world);
}

/** The requests that the service hasn't processed. */
function openRequests({ behavior, answers }: Running): Request[] {
  return behavior.operations.flatMap((one) => (one.kind === 'request' && !answers.has(one.id) ? [one] : []));
}

/** The reply is lost. A write was processed before, is processed later, or never. */
function lossesOf({ number }: Running, request: Request): Option[] {
  const lost = (says: string, fate: (taken: World) => void): Option => ({
    who: nameOf(number),
    says: `loses the reply to ${request.says}${says}`,
    cost: { losses: 1 },
    take: (taken) => {
      fate(taken);
      taken.end(number, request.id, { kind: 'lost' });
    },
  });
  if (!request.isWrite) return [lost('', () => undefined)];
  return [
    lost(', which is processed', (taken) => void taken.process(number, request)),
    lost(', which may be processed later', (taken) => taken.leaveBehind(request, number)),
  ];
}

/** The service processes a request now, and its reply arrives later. */
function slowReply({ number }: Running, request: Request): Option {
  return {
    who: nameOf(number),
    says: `${request.says} is processed; the reply takes its time`,
    cost: { slow: 1 },
    take: (taken) => {
      const answer = taken.process(number, request);
      const process = taken.running(number);
      process.answers = new Map([...process.answers, [request.id, answer]]);
    },
  };
}

/** What was under way when a process was killed: it happened, or not; a request may also be processed later. */
interface Fate {
  says: string;
  happen(taken: World): void;
}

function* killsOf(world: World, process: Running): Generator<Option, void, undefined> {
  const { number, behavior } = process;
  const isRunning = behavior.ended === undefined && !behavior.operations.some(({ kind }) => kind === 'start');
  if (!isRunning) return;
  const memories: { says: string; cost: Option['cost']; change(taken: World): void }[] = [
    { says: '', cost: {}, change: () => undefined },
    { says: ' and loses its memory', cost: { wipes: 1 }, change: (taken) => taken.disk(number).wipe() },
  ];
  if (!world.disk(number).isSynced)
    memories.push({
      says: ' by a power failure',
      cost: {},
      change: (taken) => taken.disk(number).losePower(),
    });
  for (const fate of fatesOf(process))
    for (const { says, cost, change } of memories)
      yield {
        who: nameOf(number),
        says: `is killed${says}${fate.says}; it starts again`,
        cost: { kills: 1, ...cost },
        take: (taken) => {
          fate.happen(taken);
          change(taken);
          taken.start(number);
        },
      };
}

function fatesOf(process: Running): Fate[] {
  const { number, behavior } = process;
  const requests = openRequests(process).filter(({ isWrite }) => isWrite);
  const writes = behavior.operations.filter(isDiskWrite);
  const says = [...requests, ...writes].map((one) => one.says).join(', ');
  if (says === '') return [{ says: '', happen: () => undefined }];
  const done: Fate = {
    says: ` (${says}: done)`,
    happen: (taken) => {
      for (const one of requests) taken.process(number, one);
      for (const one of writes) taken.disk(number).do(one.work);
    },
  };
  const never: Fate = { says: ` (${says}: not done)`, happen: () => undefined };
  const later: Fate = {
    says: ` (${says}: may be processed later)`,
    happen: (taken) => {
      for (const one of requests) taken.leaveBehind(one, number);
    },
  };
  return requests.length > 0 ? [done, later, never] : [done, never];
}

function isDiskWrite(one: Operation): one is Operation & { kind: 'disk' } {
  return one.kind === 'disk' && one.isWrite;
}

/** The same command is started again after it failed. After it ended well, without a request ID, it would be another request. */
function rerunOf({ number, behavior }: Running): Option[] {
  if (behavior.ended?.kind !== 'failed') return [];
  return [
    {
      who: nameOf(number),
      says: 'runs again',
      cost: { reruns: 1 },
      take: (taken) => taken.start(number),
    },
  ];
}

function cancelsByHand({ service }: World): Option[] {
  return service.stored
    .filter(({ status }) => status === 'DRAFT')
    .map(({ id }) => ({
      who: 'person',
      says: `cancels the draft ${id}`,
      cost: { cancels: 1 },
      take: (taken) => taken.service.cancelByHand(id),
    }));
}
