import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../errors.ts';

/**
 * Returns a line that identifies this process and this call: process ID, start time, a random ID, and the system in which the process
 * ID is valid. Process IDs are reused, so the start time is included where the system has it.
 */
export function identifyProcess(): string {
  const { host, boot, namespace } = currentSystem();
  const system = [host, boot, namespace].join('/');
  return [process.pid, startTimeOf(process.pid) ?? '', randomUUID(), system].join(' ');
}

/** Returns a text that identifies this machine since it was started. */
export function identifyMachine(): string {
  const { host, boot } = currentSystem();
  return `${host}/${boot}`;
}

/** Returns the process ID in an identity, or undefined if the identity is incomplete. */
export function pidOf(identity: string): number | undefined {
  const pid = Number(/^(\d+) /.exec(identity)?.[1]);
  return pid > 0 ? pid : undefined;
}

/**
 * Returns true for the identity of a process on another machine or in another container, whose process IDs mean nothing here. A restart
 * does not count as elsewhere: its processes have ended.
 */
export function isOnOtherMachine(identity: string): boolean {
  const [owner, here] = [systemOf(identity), currentSystem()];
  if (owner === undefined) return false;
  return owner.host !== here.host || (owner.boot === here.boot && owner.namespace !== here.namespace);
}

/** Returns true if the process is running or if that can't be determined. */
export function isAlive(identity: string): boolean {
  const pid = pidOf(identity);
  if (pid === undefined) return false;
  if (isOnOtherMachine(identity)) return true;
  const { boot } = currentSystem();
  if ((systemOf(identity)?.boot ?? boot) !== boot) return false;
  const start = identity.split(' ')[1];
  return isRunning(pid) && (start === '' || (startTimeOf(pid) ?? start) === start);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Returns the start time of the process in the system's unit; empty for a zombie, undefined without /proc. */
function startTimeOf(pid: number): string | undefined {
  const stat = readIfPossible(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const [state = '', ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return /[ZX]/.test(state) ? '' : rest[18];
}

/** The machine, its start, and the PID namespace, which differs between containers. The last two are only known on Linux. */
interface System {
  host: string;
  boot: string;
  namespace: string;
}

let current: System | undefined;

function currentSystem(): System {
  const boot = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const namespace = () => readlinkSync('/proc/self/ns/pid');
  current ??= {
    host: encodeURIComponent(hostname()),
    boot: readIfPossible(boot) ?? '',
    namespace: readIfPossible(namespace) ?? '',
  };
  return current;
}

function systemOf(identity: string): System | undefined {
  const [host = '', boot, namespace] = identity.split(' ')[3]?.split('/') ?? [];
  return boot === undefined || namespace === undefined ? undefined : { host, boot, namespace };
}

function readIfPossible(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
