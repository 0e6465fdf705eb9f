import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';

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
 * Returns the identity of this process. Process ids are reused, so the identity also contains the start time or, on systems without /proc, a socket
 * that disappears with the process.
 */
export async function identifyProcess(read: StatReader = readStat): Promise<ProcessIdentity> {
  const id = randomUUID();
  const start = startTimeOf(process.pid, read);
  const socket = start === undefined ? await openSocket(id) : undefined;
  const proof = start ?? encodeURIComponent(socket?.path ?? '');
  return {
    identity: `${process.pid} ${proof} ${id}`,
    end: async () => {
      if (socket !== undefined) await new Promise((resolve) => socket.server.close(resolve));
    },
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
  const [, proof = ''] = identity.split(' ');
  if (pid === undefined) return false;
  if (!/^\d*$/.test(proof)) return isListening(proof);
  return isRunning(pid) && (proof === '' || hasStartTime(proof, pid, read));
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

/** The paths that `openSocket` uses. On Windows, other paths could name a pipe of another machine. */
const SOCKET_PATH =
  process.platform === 'win32' ? /^\\\\\.\\pipe\\esign-[0-9a-f-]{36}$/ : /\/esign-[0-9a-f-]{36}$/;

/** Returns the decoded path, or undefined if it isn't a path of `openSocket`. */
function socketPath(encoded: string): string | undefined {
  try {
    const path = decodeURIComponent(encoded);
    return SOCKET_PATH.test(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Opens the socket. Returns undefined if that fails; the identity then has only the process id. */
async function openSocket(id: string): Promise<{ path: string; server: Server } | undefined> {
  const { createServer } = await import('node:net');
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\esign-${id}` : join(tmpdir(), `esign-${id}`);
  try {
    const server = createServer((socket) => socket.destroy()).listen(path);
    await once(server, 'listening');
    return { path, server: server.unref() };
  } catch {
    return undefined;
  }
}

/**
 * Returns true if a process listens at the socket. Removes the socket of a killed process. Anyone may have written the file with the
 * path, so nothing else is ever removed.
 */
async function isListening(encodedPath: string): Promise<boolean> {
  const path = socketPath(encodedPath);
  if (path === undefined) return false;
  const { connect } = await import('node:net');
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (codeOf(error) === 'ECONNREFUSED' && (await isSocket(path))) await rm(path, { force: true });
    return !['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '');
  } finally {
    socket.destroy();
  }
}

function isSocket(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isSocket(),
    () => false,
  );
}
