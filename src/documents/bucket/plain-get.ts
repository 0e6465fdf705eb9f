import type { S3Client } from '@aws-sdk/client-s3';
import { isRecord } from '../../kernel/json.ts';
import { proxyFor, urlOf } from '../../kernel/network/proxy.ts';
import type { BucketExchange } from './connection.ts';

/*
 * For a small object, the SDK's middleware takes more processor time than fetching, hashing, and writing the object. Therefore the SDK
 * resolves the bucket's host and region only once, and each GET is signed and sent with the SDK's own signer, credentials, and connections,
 * without the middleware. Any result other than a plain success is passed to the middleware as its own first attempt, so that the SDK
 * handles retries and errors.
 */

/** Where the bucket's objects are, and the signer of requests for them. */
interface RequestTemplate {
  protocol: string;
  hostname: string;
  port: number | undefined;
  /** The value of the Host header. */
  host: string;
  /** The part of the path before the key. */
  base: string;
  region: string;
  signer: Awaited<ReturnType<S3Client['config']['signer']>>;
}

/** A response from the SDK's request handler. */
export interface Reply {
  statusCode: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** The result of a GET: a plain success, or a result for the SDK to handle. */
export type PlainAnswer = { reply: Reply } | { firstTry: (() => Promise<{ response: unknown }>) | undefined };

const PLAIN: readonly number[] = [200, 206, 304, 412, 416];

type Headers = Readonly<Record<string, string>>;

/** Returns a function that sends plain GETs. `asked` returns a request that the SDK has signed for the key `k`. */
export function plainGets(
  client: S3Client,
  asked: () => Promise<unknown>,
  trace: ((exchange: BucketExchange) => void) | undefined,
): (key: string, headers: Headers, signal: AbortSignal | undefined) => Promise<PlainAnswer> {
  // The SDK reports errors when it fetches an object.
  const template = learnTemplate(client, asked).catch(() => undefined);
  return async (key, headers, signal) => {
    const learned = await template;
    const request = learned && (await signed(client, learned, key, headers).catch(() => undefined));
    if (request === undefined) return { firstTry: undefined };
    const started = Date.now();
    const options = signal ? { abortSignal: signal } : {};
    const sent: Promise<unknown> = client.config.requestHandler.handle(request, options);
    const reply = await sent.then(responseIn, () => undefined);
    if (!isReply(reply) || !PLAIN.includes(reply.statusCode))
      return { firstTry: async () => ({ response: responseIn(await sent) }) };
    const url = `${request.protocol}//${request.headers.host ?? ''}${request.path}`;
    const ms = Date.now() - started;
    trace?.({ method: 'GET', url, status: reply.statusCode, ms, error: undefined });
    return { reply };
  };
}

function signed(client: S3Client, template: RequestTemplate, key: string, headers: Headers) {
  const { protocol, hostname, port, host, base, region, signer } = template;
  const at = port === undefined ? { hostname } : { hostname, port };
  const path = `${base}${encodePath(key)}`;
  return signer.sign(
    { method: 'GET', protocol, ...at, path, query: {}, headers: { ...headers, host } },
    {
      signingDate: new Date(Date.now() + client.config.systemClockOffset),
      signingRegion: region,
      signingService: 's3',
    },
  );
}

function responseIn(answer: unknown): unknown {
  return isRecord(answer) ? answer.response : undefined;
}

function isReply(response: unknown): response is Reply {
  return isRecord(response) && typeof response.statusCode === 'number' && isRecord(response.headers);
}

/** Returns where the SDK would send requests; undefined if it needs its middleware: sessions, or a plain http proxy. */
async function learnTemplate(
  client: S3Client,
  asked: () => Promise<unknown>,
): Promise<RequestTemplate | undefined> {
  const request = await asked();
  if (!isRecord(request) || !isRecord(request.headers)) return undefined;
  const { protocol, hostname, port, path, headers } = request;
  const scope = /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/([^/]+)\/s3\/aws4_request,/.exec(
    String(headers.authorization),
  );
  const isPlain =
    typeof path === 'string' && path.endsWith('/k') && headers['x-amz-s3session-token'] === undefined;
  if (scope === null || !isPlain || typeof hostname !== 'string') return undefined;
  const template = {
    protocol: String(protocol),
    hostname,
    port: typeof port === 'number' ? port : undefined,
    host: String(headers.host),
    base: path.slice(0, -1),
    region: scope[1] ?? '',
  };
  const target = urlOf(template.protocol, hostname, template.port);
  // A plain http proxy needs a different request. An https proxy only provides a connection, so nothing changes.
  if (target.protocol === 'http:' && proxyFor(process.env, target) !== undefined) return undefined;
  return { ...template, signer: await client.config.signer() };
}

/** Encodes a path for S3: every byte except letters, digits, `-_.~`, and slashes. Doesn't normalize the path. */
function encodePath(path: string): string {
  const encode = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return path
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, encode))
    .join('/');
}
