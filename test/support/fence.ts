import { Socket } from 'node:net';

/*
 * Tests can only connect to loopback: a connection to anywhere else fails. The fence is at the socket, since mocks (nock,
 * undici's mock agent) change the bytes of real requests that pass through them.
 */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0|::)$/;

const FENCED = Symbol.for('esign.fenced');

// Test files share a process; one fence is enough for all of them.
if (!(FENCED in Socket.prototype)) {
  Object.defineProperty(Socket.prototype, FENCED, { value: true });
  Socket.prototype.connect = new Proxy(Socket.prototype.connect, {
    apply(connect, socket: Socket, args: unknown[]) {
      const host = hostOf(args);
      if (host !== undefined && !LOOPBACK.test(host))
        throw new Error(`tests talk to loopback only, not to ${host}`);
      const connected: unknown = Reflect.apply(connect, socket, args);
      return connected;
    },
  });
}

/** The host of `connect(options)`, `connect(port, host)`, or of the normalized arguments that net.connect creates. */
function hostOf(args: readonly unknown[]): string | undefined {
  const list: readonly unknown[] = Array.isArray(args[0]) ? args[0] : args;
  const [first, second] = list;
  if (typeof first === 'object' && first !== null && 'host' in first) {
    return typeof first.host === 'string' ? first.host : undefined;
  }
  return typeof second === 'string' ? second : undefined;
}
