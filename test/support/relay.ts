import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import type { Home, Sandbox } from './cli.ts';
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

/** A relay between the commands of a home and its sandbox, which refuses or loses chosen requests. */
export interface Relay {
  /** Decides on each request; the sandbox answers those without an intervention. */
  intervene: (request: Relayed) => Intervention;
  /** The API requests since the last reset. */
  readonly seen: Relayed[];
  /** Returns the addresses that were asked to sign, and how often. */
  emails(): Promise<Record<string, number>>;
  /** Removes all envelopes and interventions. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const EMPTY_LIST = { data: [], meta: { pagination: { page: 1, pageSize: 100, total: 0, totalPages: 1 } } };

/** Starts a sandbox, and a relay in front of it that the profile of the home uses. */
export async function relayedSandbox(home: Home, args: readonly string[] = []): Promise<Relay> {
  const sandbox = await home.sandbox(['--rate-limit', '1000000/15m', ...args]);
  const { origin, pathname } = new URL(sandbox.baseUrl);
  const relay: Relay = {
    intervene: () => undefined,
    seen: [],
    emails: () => emailsOf(sandbox),
    async reset() {
      relay.intervene = () => undefined;
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
    if (typeof own === 'object')
      return json(response, own.status, { error: { code: own.code, message: `refused: ${own.code}` } });
    if (own === 'unlisted') return json(response, 200, EMPTY_LIST);
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const reply = await fetch(`${origin}${url}`, {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(body.length > 0 ? { body } : {}),
    });
    const text = await reply.text();
    if (own === 'lost') return void response.destroy();
    const kept = [...reply.headers].filter(([name]) => /^(content-type|date|x-ratelimit)/.test(name));
    response.writeHead(reply.status, Object.fromEntries(kept)).end(text);
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const baseUrl = `http://127.0.0.1:${portOf(server)}${pathname}`;
  await home.json(['profiles', 'edit', 'sandbox', '--base-url', baseUrl, '--no-verify']);
  return relay;
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

async function emailsOf({ baseUrl, apiKey }: Sandbox): Promise<Record<string, number>> {
  const url = new URL('/__sandbox/mails', baseUrl);
  const reply = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
  const body = parseJson(await reply.text());
  const emails: Record<string, number> = {};
  for (const mail of isRecord(body) && isList(body.data) ? body.data : []) {
    if (!isRecord(mail) || mail.kind !== 'request') continue;
    const to = String(mail.to);
    emails[to] = (emails[to] ?? 0) + 1;
  }
  return emails;
}
