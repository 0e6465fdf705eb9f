import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { portOf } from './server.ts';

/** The faults of a request in transit, and how often they occur: shares of 1. */
export interface Faults {
  /** The service processes the request and the response is lost. */
  lost?: number;
  /** The connection is reset before the service gets the request. */
  reset?: number;
  /** The response is truncated. */
  cut?: number;
  /** The response comes after `slowMs`. */
  slow?: number;
  /** A gateway's page instead of the response. */
  gateway?: number;
  /** Bytes that are not HTTP. */
  garbage?: number;
}

export interface FaultyProxy {
  origin: string;
  /** The number of requests, and the number of faults by kind. */
  counts: Record<string, number>;
  close(): Promise<void>;
}

/** A network between a client and a service that fails at random, in the same way for the same seed. */
export async function startFaultyProxy(options: {
  target: string;
  seed: number;
  slowMs?: number;
  faultsFor: (request: { method: string; path: string }) => Faults;
}): Promise<FaultyProxy> {
  const random = seeded(options.seed);
  const counts: Record<string, number> = {};
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const faults = options.faultsFor({ method: request.method ?? '', path: request.url ?? '' });
    const fault = pick(faults, random());
    counts[fault] = (counts[fault] ?? 0) + 1;
    if (failsAtOnce(fault, request, response)) return;
    const reply = await forward(request, options.target);
    if (fault === 'lost') return void request.socket.destroy();
    if (fault === 'slow') await pause(options.slowMs ?? 1_000);
    response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
    if (fault !== 'cut') return void response.end(reply.body);
    response.write(reply.body.subarray(0, Math.floor(reply.body.length / 2)), () => request.socket.destroy());
  }

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const port = portOf(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    counts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Faults for which the service never gets the request. */
function failsAtOnce(fault: string, request: IncomingMessage, response: ServerResponse): boolean {
  if (fault === 'reset') request.socket.resetAndDestroy();
  else if (fault === 'garbage') request.socket.end('\u0000\u0001 this is not HTTP\r\n\r\n');
  else if (fault === 'gateway')
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
  else return false;
  return true;
}

/** Forwards a request to the service. */
export async function forward(request: IncomingMessage, target: string) {
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
  const body = await buffer(request);
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && body.length > 0;
  const reply = await fetch(`${target}${request.url ?? ''}`, {
    method: request.method ?? 'GET',
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    ...(hasBody ? { body } : {}),
  });
  const kept = [...reply.headers].filter(
    ([name]) => !/^(content-length|transfer-encoding|connection|keep-alive)$/.test(name),
  );
  return {
    status: reply.status,
    headers: Object.fromEntries(kept),
    body: Buffer.from(await reply.arrayBuffer()),
  };
}

function pick(faults: Faults, at: number): keyof Faults | 'none' {
  let edge = 0;
  for (const name of ['lost', 'reset', 'cut', 'slow', 'gateway', 'garbage'] as const) {
    edge += faults[name] ?? 0;
    if (at < edge) return name;
  }
  return 'none';
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
