import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps the connections to a server below a limit. When one more arrives, the one that has been waiting longest for a complete request is
 * closed, so that open connections of strangers can't keep out others. A request that is being processed is never cut off.
 */
export function limitConnections(server: Server, max: number, onClosed: () => void): void {
  const open = new Set<Socket>();
  /** Those without a complete request, in the order in which they began to wait. */
  const waiting = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    waiting.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      waiting.delete(socket);
    });
    if (open.size <= max) return;
    const [oldest = socket] = waiting;
    // Its events arrive later.
    open.delete(oldest);
    waiting.delete(oldest);
    oldest.destroy();
    onClosed();
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    let isAnswered = false;
    request.once('end', () => {
      // A response doesn't have to wait for the end of the request.
      if (!isAnswered) waiting.delete(socket);
    });
    response.once('close', () => {
      isAnswered = true;
      waiting.delete(socket);
      if (open.has(socket)) waiting.add(socket);
    });
  });
}
