import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';
import { isElsewhere, isSocketAlive, markNamespace } from './pid-namespace.ts';
import { isListening, openSocket } from './process-socket.ts';

/** Identifies this process to other processes, so that they see that it is running. */
export interface ProcessIdentity {
  /** A line that uniquely identifies the process and this call. */
  identity: string;
  end(): Promise<void>;
}

/** Reads the /proc entry of a process. Returns undefined if there is no such process or no /proc. */
export type StatReader = (pid: number) => string | undefined;

const readStat: StatReader = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Returns the identity of this process. Process ids are reused, so the identity also contains the start time and the PID namespace or,
 * on systems without /proc, a socket that disappears with the process.
 */
export async function identifyProcess(read: StatReader = readStat): Promise<ProcessIdentity> {
  const id = randomUUID();
  const start = startTimeOf(process.pid, read);
  if (start !== undefined) {
    const { mark, end } = await markNamespace(id);
    return { identity: `${process.pid} ${start} ${id} ${mark}`.trimEnd(), end };
  }
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\esign-${id}` : join(tmpdir(), `esign-${id}`);
  const socket = await openSocket(path);
  const proof = socket === undefined ? '' : encodeURIComponent(path);
  return {
    identity: `${process.pid} ${proof} ${id}`,
    end: async () => socket?.close(),
  };
}

/** Returns the process id in an identity, or undefined if the identity is incomplete. */
export function pidOf(identity: string): number | undefined {
  const pid = Number(/^(\d+) /.exec(identity)?.[1]);
  return pid > 0 ? pid : undefined;
}

/** Returns true if the process is running or if that can't be determined. */
export async function isAlive(identity: string, read: StatReader = readStat): Promise<boolean> {
  const pid = pidOf(identity);
  const [, proof = '', id = '', mark = ''] = identity.split(' ');
  if (pid === undefined) return false;
  if (isElsewhere(mark)) return isSocketAlive(mark, id);
  if (!/^\d*$/.test(proof)) {
    const path = socketPath(proof);
    return path !== undefined && isListening(path);
  }
  const isHere = isRunning(pid) && (proof === '' || hasStartTime(proof, pid, read));
  // Removes the socket that a killed process left.
  if (!isHere) await isSocketAlive(mark, id);
  return isHere;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function hasStartTime(proof: string, pid: number, read: StatReader): boolean {
  const start = startTimeOf(pid, read);
  return start === undefined || start === proof;
}

/** Returns the start time of the process in the system's unit. Empty for a zombie. */
function startTimeOf(pid: number, read: StatReader): string | undefined {
  const stat = read(pid);
  const [state = '', ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return /[ZX]/.test(state) ? '' : rest[18];
}

/**
 * The paths of sockets of `identifyProcess`. Anyone may have written the file with the path, so nothing else is ever removed. On
 * Windows, other paths could name a pipe of another machine.
 */
const SOCKET_PATH =
  process.platform === 'win32' ? /^\\\\\.\\pipe\\esign-[0-9a-f-]{36}$/ : /\/esign-[0-9a-f-]{36}$/;

/** Returns the decoded path, or undefined if it isn't a path of `identifyProcess`. */
function socketPath(encoded: string): string | undefined {
  try {
    const path = decodeURIComponent(encoded);
    return SOCKET_PATH.test(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
