import type { S3Client } from '@aws-sdk/client-s3';
import { isRecord } from '../../kernel/json.ts';
import { proxyFor, urlOf } from '../../kernel/network/proxy.ts';
import type { BucketExchange } from './connection.ts';
import type { PlainResponse } from './object.ts';

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
  host: string;
  /** The part of the path before the key. */
  base: string;
  region: string;
  signer: Awaited<ReturnType<S3Client['config']['signer']>>;
}

/** The result of a GET: a plain success, or a result for the SDK to handle. */
type PlainAnswer =
  | { reply: PlainResponse }
  | { firstTry: (() => Promise<{ response: unknown }>) | undefined };

const PLAIN: readonly number[] = [200, 206, 304, 412, 416];

type Headers = Readonly<Record<string, string>>;

export function plainGets(
  sdk: typeof import('./s3-sdk.ts'),
  client: S3Client,
  bucket: string,
  trace: ((exchange: BucketExchange) => void) | undefined,
): (key: string, headers: Headers, signal: AbortSignal | undefined) => Promise<PlainAnswer> {
  // The SDK reports errors when it fetches an object.
  const template = learnTemplate(sdk, client, bucket).catch(() => undefined);
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

function isReply(response: unknown): response is PlainResponse {
  return isRecord(response) && typeof response.statusCode === 'number' && isRecord(response.headers);
}

/** Returns where the SDK would send requests; undefined if it needs its middleware: sessions, or a plain http proxy. */
async function learnTemplate(
  sdk: typeof import('./s3-sdk.ts'),
  client: S3Client,
  bucket: string,
): Promise<RequestTemplate | undefined> {
  const request = await signedRequest(sdk, client, bucket);
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

/** Returns a GET of the key `k` as the SDK would send it, without sending it. */
async function signedRequest(
  sdk: typeof import('./s3-sdk.ts'),
  client: S3Client,
  bucket: string,
): Promise<unknown> {
  const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: 'k' });
  let request: unknown;
  command.middlewareStack.add(
    () => (args) => {
      ({ request } = args);
      return Promise.resolve({ output: { $metadata: {} }, response: { statusCode: 200, headers: {} } });
    },
    { step: 'deserialize', priority: 'high' },
  );
  await client.send(command);
  return request;
}

/** Encodes a path for S3: every byte except letters, digits, `-_.~`, and slashes. Doesn't normalize the path. */
function encodePath(path: string): string {
  const encode = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return path
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, encode))
    .join('/');
}
