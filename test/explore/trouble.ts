import type { DiskOperation, Request } from './operation.ts';
import type { Process } from './process.ts';
import { type Option, processed, type World } from './world.ts';

const LOST = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });

/** Returns everything that may go wrong now. */
export function troublesOf(world: World): Option[] {
  const { processes } = world;
  return [
    ...processes.flatMap((process) => openRequests(process).flatMap((one) => lossesOf(world, process, one))),
    ...processes.flatMap((process) => openRequests(process).map((one) => slowReply(world, process, one))),
    ...processes.flatMap((process) => killsOf(world, process)),
    ...processes.flatMap((process) => rerunOf(world, process)),
    ...cancelsByHand(world),
  ];
}

/** The requests that the service hasn't processed. */
function openRequests({ pending }: Process): Request[] {
  return pending.flatMap((one) => (one.kind === 'request' && one.answer === undefined ? [one] : []));
}

/** The reply is lost. A write was processed before, is processed later, or never. */
function lossesOf(world: World, process: Process, request: Request): Option[] {
  const lost = (says: string, take: () => void): Option => ({
    who: process.name,
    says: `loses the reply to ${request.says}${says}`,
    cost: { losses: 1 },
    take: () => {
      take();
      request.fail(LOST);
    },
  });
  if (!request.isWrite) return [lost('', () => undefined)];
  return [
    lost(', which is processed', () => void processed(world, process, request)),
    lost(', which may be processed later', () => world.leaveBehind(request, process.name)),
  ];
}

/** The service processes a request now, and its reply arrives later. */
function slowReply(world: World, process: Process, request: Request): Option {
  return {
    who: process.name,
    says: `${request.says} is processed; the reply takes its time`,
    cost: { slow: 1 },
    take: () => {
      request.answer = processed(world, process, request);
    },
  };
}

/** What was under way when a process was killed: it happened, or not; a request may also be processed later. */
interface Fate {
  says: string;
  happen(): void;
}

function killsOf(world: World, process: Process): Option[] {
  const isRunning = process.ended === undefined && !process.pending.some(({ kind }) => kind === 'start');
  if (!isRunning) return [];
  const unsynced = process.disk.isSynced
    ? []
    : [{ says: ' by a power failure', cost: {}, change: () => process.disk.losePower() }];
  const memories = [
    { says: '', cost: {}, change: () => undefined },
    { says: ' and loses its memory', cost: { wipes: 1 }, change: () => process.disk.wipe() },
    ...unsynced,
  ];
  return fatesOf(world, process).flatMap((fate) =>
    memories.map(({ says, cost, change }) => ({
      who: process.name,
      says: `is killed${says}${fate.says}; it starts again`,
      cost: { kills: 1, ...cost },
      take: () => {
        fate.happen();
        change();
        world.kill(process);
      },
    })),
  );
}

function fatesOf(world: World, process: Process): Fate[] {
  const requests = openRequests(process).filter(({ isWrite }) => isWrite);
  const writes = process.pending.filter((one): one is DiskOperation => one.kind === 'disk' && one.isWrite);
  const says = [...requests, ...writes].map((one) => one.says).join(', ');
  if (says === '') return [{ says: '', happen: () => undefined }];
  const happened: Fate = {
    says: ` (${says}: done)`,
    happen: () => {
      for (const one of requests) processed(world, process, one);
      for (const one of writes) one.keep();
    },
  };
  const never: Fate = { says: ` (${says}: not done)`, happen: () => undefined };
  const later: Fate = {
    says: ` (${says}: may be processed later)`,
    happen: () => {
      for (const one of requests) world.leaveBehind(one, process.name);
    },
  };
  return requests.length > 0 ? [happened, later, never] : [happened, never];
}

/** A process that has ended is started again: the same command once more. */
function rerunOf(world: World, process: Process): Option[] {
  if (process.ended === undefined) return [];
  const take = () => world.restart(process);
  return [{ who: process.name, says: 'runs again', cost: { reruns: 1 }, take }];
}

function cancelsByHand({ service }: World): Option[] {
  return service.stored
    .filter(({ status }) => status === 'DRAFT')
    .map((draft) => ({
      who: 'person',
      says: `cancels the draft ${draft.id}`,
      cost: { cancels: 1 },
      take: () => service.cancelByHand(draft),
    }));
}
