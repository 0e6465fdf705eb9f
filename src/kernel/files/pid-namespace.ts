import { readFileSync, readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';
import { makeFolder } from './folder.ts';
import { stateDir } from './paths.ts';
import { isListening, openSocket } from './process-socket.ts';

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

/** What an identity contains about its PID namespace. */
export interface NamespaceMark {
  /** Empty if it is unknown. */
  mark: string;
  /** To be called when the identity is no longer used. */
  end(): Promise<void>;
}

/**
 * Marks an identity with the PID namespace of this process. Containers that share a state folder can't see each other's processes,
 * so in a container, a socket in the state folder shows that the process is running. Outside, none is needed: a stale lock is
 * removed by the next process there.
 */
export async function markNamespace(id: string): Promise<NamespaceMark> {
  const unmarked = { mark: '', end: () => Promise.resolve() };
  const here = currentNamespace();
  if (here === null) return unmarked;
  const mark = `${here.boot}:${here.namespace}`;
  if (here.namespace === INITIAL_NAMESPACE) return { ...unmarked, mark };
  const end = await listenInFolder(id).catch(() => undefined);
  return end === undefined ? unmarked : { mark: `${mark}:socket`, end };
}

/** Returns true if the process is in another PID namespace on this machine, so that its process ID means nothing here. */
export function isElsewhere(mark: string): boolean {
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
