import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { type FileHandle, lstat, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';
import { makeFolder } from './folder.ts';
import { stateDir } from './paths.ts';

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
 * Returns the identity of this process. Process IDs are reused, so the identity also contains the start time and the PID namespace or,
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

/** Returns the process ID in an identity, or undefined if the identity is incomplete. */
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
  const start = startTimeOf(pid, read);
  const isSame = proof === '' || start === undefined || start === proof;
  const isHere = isSame && isRunning(pid);
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

/** The PID namespace outside of containers (PROC_PID_INIT_INO in Linux). */
const INITIAL_NAMESPACE = '4026531836';
const UUID = /^[0-9a-f-]{36}$/;

interface Namespace {
  boot: string;
  namespace: string;
}

let current: Namespace | null | undefined;

/** Returns the PID namespace of this process, or null on systems without them. */
function currentNamespace(): Namespace | null {
  try {
    current ??= {
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      namespace: /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '',
    };
  } catch {
    current = null;
  }
  return current;
}

/**
 * Marks an identity with the PID namespace of this process. Containers that share a state folder can't see each other's processes,
 * so in a container, a socket in the state folder shows that the process is running. Outside, none is needed: a stale lock is
 * removed by the next process there. The mark is empty if the namespace is unknown.
 */
async function markNamespace(id: string): Promise<{ mark: string; end(): Promise<void> }> {
  const unmarked = { mark: '', end: () => Promise.resolve() };
  const here = currentNamespace();
  if (here === null) return unmarked;
  const mark = `${here.boot}:${here.namespace}`;
  if (here.namespace === INITIAL_NAMESPACE) return { ...unmarked, mark };
  const end = await listenInFolder(id).catch(() => undefined);
  return end === undefined ? unmarked : { mark: `${mark}:socket`, end };
}

/** Returns true if the process is in another PID namespace on this machine, so that its process ID means nothing here. */
function isElsewhere(mark: string): boolean {
  const [boot, namespace] = mark.split(':');
  const here = currentNamespace();
  return here !== null && boot === here.boot && namespace !== here.namespace;
}

/**
 * Returns true if the socket of an identity shows that its process is running, or if that can't be determined. Removes the socket of
 * a killed one.
 */
export async function isSocketAlive(mark: string, id: string): Promise<boolean> {
  if (!mark.endsWith(':socket')) return true;
  if (!UUID.test(id)) return false;
  let folder: FileHandle | undefined;
  try {
    folder = await open(socketFolder());
    return await isListening(shortPath(folder.fd, id));
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  } finally {
    await folder?.close();
  }
}

function socketFolder(): string {
  return join(stateDir(), 'sockets');
}

/** Opens the socket. Returns the function that closes it, or undefined if the file system has no sockets. */
async function listenInFolder(id: string): Promise<(() => Promise<void>) | undefined> {
  makeFolder(socketFolder(), 0o700);
  const folder = await open(socketFolder());
  const socket = await openSocket(shortPath(folder.fd, id));
  if (socket === undefined) {
    await folder.close();
    return undefined;
  }
  return async () => {
    await socket.close();
    await folder.close();
  };
}

/** Returns a path for a socket, which may have at most 107 bytes. */
function shortPath(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`;
}

/** Opens a socket that accepts connections as long as this process runs. Returns undefined if that fails. */
async function openSocket(path: string): Promise<{ close: () => Promise<void> } | undefined> {
  const { createServer } = await import('node:net');
  try {
    const server = createServer((socket) => socket.destroy()).listen(path);
    await once(server, 'listening');
    server.unref();
    return {
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
        }),
    };
  } catch {
    return undefined;
  }
}

/** Returns true if a process listens at the socket or if that can't be determined. Removes the socket of a killed process. */
async function isListening(path: string): Promise<boolean> {
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
