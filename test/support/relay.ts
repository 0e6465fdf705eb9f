import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Home, Sandbox } from './cli.ts';
import { requestsToSign } from './mails.ts';
import { closeAtEnd } from './opened.ts';
import { json, portOf } from './server.ts';

/** A request of a command, as the relay sees it. */
export interface Relayed {
  method: string;
  /** Relative to the base URL, such as /esign/envelopes. */
  path: string;
  body: string;
}

/**
 * How the relay responds itself: with an error, not at all (`lost`: the service has processed the request), or with an empty list
 * (`unlisted`: the service doesn't list new envelopes yet).
 */
type Intervention = { status: number; code: string } | 'lost' | 'unlisted' | undefined;

/** What is held up: the request, which never arrives, or the response, after the service has processed the request. */
type Held = 'request' | 'answer';

/** A relay between the commands of a home and its sandbox, which refuses, loses, or holds up chosen requests. */
export interface Relay {
  sandbox: Sandbox;
  /** Decides on each request; the sandbox answers those without an intervention. */
  intervene: (request: Relayed) => Intervention;
  /** The API requests since the last reset. */
  readonly seen: Relayed[];
  /** Holds up the request with this number, counted from now, or all whose method and path match. The client keeps waiting. */
  hold(which: number | RegExp, what?: Held): void;
  /** Resolves when this many requests are held up. */
  arrived(count?: number): Promise<void>;
  /** Sends the held responses, forgets the held requests, and lets everything through. */
  open(): void;
  /** Returns the addresses that were asked to sign, and how often. */
  emails(): Promise<Record<string, number>>;
  /** Removes all envelopes, interventions, and holds. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const EMPTY_LIST = { data: [], meta: { pagination: { page: 1, pageSize: 100, total: 0, totalPages: 1 } } };

/** Starts a sandbox, and a relay in front of it that the profile of the home uses, to the end of the file. */
export async function relayedSandbox(home: Home, args: readonly string[] = []): Promise<Relay> {
  const sandbox = await home.sandbox(['--rate-limit', '1000000/15m', ...args]);
  const { origin, pathname } = new URL(sandbox.baseUrl);
  const holding = new Holding();
  const relay: Relay = {
    sandbox,
    intervene: () => undefined,
    seen: [],
    hold: (which, what = 'answer') => holding.hold(which, what),
    arrived: (count = 1) => holding.arrived(count),
    open: () => holding.open(),
    emails: () => requestsToSign(sandbox),
    async reset() {
      relay.intervene = () => undefined;
      holding.open();
      await home.run`sandbox reset --yes`;
      relay.seen.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const body = await buffer(request);
    const isApi = url.startsWith(pathname);
    const seen = { method, path: url.replace(pathname, ''), body: body.toString() };
    if (isApi) relay.seen.push(seen);
    const own = isApi ? relay.intervene(seen) : undefined;
    if (own !== undefined && own !== 'lost') return refuse(response, own);
    const held = isApi ? holding.matches(seen) : undefined;
    if (held === 'request') return holding.keep(() => response.destroy());
    const reply = await forward(request, `${origin}${url}`, body);
    if (own === 'lost') return void response.destroy();
    const send = () => void response.writeHead(reply.status, reply.headers).end(reply.text);
    return held === 'answer' ? holding.keep(send) : send();
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const baseUrl = `http://127.0.0.1:${portOf(server)}${pathname}`;
  await home.json(['profiles', 'edit', 'sandbox', '--base-url', baseUrl, '--no-verify']);
  return closeAtEnd(relay);
}

function refuse(response: ServerResponse, own: { status: number; code: string } | 'unlisted'): void {
  if (own === 'unlisted') json(response, 200, EMPTY_LIST);
  else json(response, own.status, { error: { code: own.code, message: `refused: ${own.code}` } });
}

async function forward({ method = '', headers }: IncomingMessage, url: string, body: Buffer) {
  const { host: _, connection: __, 'content-length': ___, ...passed } = headers;
  const reply = await fetch(url, {
    method,
    headers: Object.entries(passed).map(([name, value]): [string, string] => [name, String(value)]),
    ...(body.length > 0 ? { body } : {}),
  });
  const kept = [...reply.headers].filter(([name]) => /^(content-type|date|x-ratelimit)/.test(name));
  return { status: reply.status, headers: Object.fromEntries(kept), text: await reply.text() };
}

/** The requests that are held up. */
class Holding {
  #which: number | RegExp | undefined;
  #what: Held = 'answer';
  #count = 0;
  readonly #kept: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];

  hold(which: number | RegExp, what: Held): void {
    this.open();
    [this.#which, this.#what] = [which, what];
  }

  /** Counts a request, and returns what of it to hold up. */
  matches({ method, path }: Relayed): Held | undefined {
    this.#count++;
    const which = this.#which;
    const isHeld = which instanceof RegExp ? which.test(`${method} ${path}`) : which === this.#count;
    return isHeld ? this.#what : undefined;
  }

  keep(release: () => void): void {
    this.#kept.push(release);
    for (const check of this.#waiting.splice(0)) check();
  }

  async arrived(count: number): Promise<void> {
    while (this.#kept.length < count)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
  }

  open(): void {
    this.#which = undefined;
    this.#count = 0;
    for (const release of this.#kept.splice(0)) release();
  }
}

/** Refuses creates from this number on, as if the key had been revoked during the run. */
export function keyRevokedAfter(creates: number): Relay['intervene'] {
  let count = 0;
  return ({ method, path }) =>
    method === 'POST' && path === '/esign/envelopes' && ++count > creates
      ? { status: 401, code: 'UNAUTHORIZED' }
      : undefined;
}

/** Lists no envelopes, as a service whose list lags. */
export const listsNothing: Relay['intervene'] = ({ method, path }) =>
  method === 'GET' && /^\/esign\/envelopes\?/.test(path) ? 'unlisted' : undefined;

/** Refuses to create envelopes whose body contains this text. */
export function refuses(text: string): Relay['intervene'] {
  return ({ method, body }) =>
    method === 'POST' && body.includes(text) ? { status: 400, code: 'VALIDATION_ERROR' } : undefined;
}
