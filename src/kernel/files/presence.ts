import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';

/** A sign of life that other processes can check, for as long as this one has it. */
export interface Presence {
  /** One line that names the process and this very presence: no two are alike. */
  mark: string;
  end(): Promise<void>;
}

/** What Linux tells of a process; undefined where there is no such process, or no /proc. */
export type StatReader = (pid: number) => string | undefined;

const readStat: StatReader = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Announces this process. The number of a process is used again, so something else belongs to it: the time it was started,
 * or, where the system does not tell that, a socket that only it answers at and that is gone with it.
 */
export async function announce(read: StatReader = readStat): Promise<Presence> {
  const id = randomUUID();
  const start = startOf(process.pid, read);
  const socket = start === undefined ? await openSocket(id) : undefined;
  const proof = start ?? encodeURIComponent(socket?.path ?? '');
  return {
    mark: `${process.pid} ${proof} ${id}`,
    end: async () => {
      if (socket !== undefined) await new Promise((resolve) => socket.server.close(resolve));
    },
  };
}

/** The process that a mark names; undefined when it is no whole mark. */
export function processOf(mark: string): number | undefined {
  const pid = Number(/^(\d+) /.exec(mark)?.[1]);
  return pid > 0 ? pid : undefined;
}

/** True when the process that left the mark still lives. Where that can't be told it is taken to live. */
export async function isPresent(mark: string, read: StatReader = readStat): Promise<boolean> {
  const pid = processOf(mark);
  const [, proof = ''] = mark.split(' ');
  if (pid === undefined || !isRunning(pid)) return false;
  if (proof === '') return true;
  return /^\d+$/.test(proof) ? isStart(proof, pid, read) : answers(decodeURIComponent(proof));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function isStart(proof: string, pid: number, read: StatReader): boolean {
  const start = startOf(pid, read);
  return start === undefined || start === proof;
}

/** When the process was started, in the system's own count; empty for one that has ended and waits to be reaped. */
function startOf(pid: number, read: StatReader): string | undefined {
  const stat = read(pid);
  const [state = '', ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return /[ZX]/.test(state) ? '' : rest[18];
}

/** Undefined where none can be had: the number of the process is then all there is. */
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

/** Whether somebody listens at the socket; what a killed process has left of it is removed. */
async function answers(path: string): Promise<boolean> {
  const { connect } = await import('node:net');
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    if (codeOf(error) === 'ECONNREFUSED') await rm(path, { force: true });
    return !['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '');
  } finally {
    socket.destroy();
  }
}
