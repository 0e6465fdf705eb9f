import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { codeOf } from '../errors.ts';

/** Opens a socket that accepts connections as long as this process runs. Returns undefined if that fails. */
export async function openSocket(path: string): Promise<{ close: () => Promise<void> } | undefined> {
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
export async function isListening(path: string): Promise<boolean> {
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
