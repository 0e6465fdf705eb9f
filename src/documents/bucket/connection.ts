import { Agent as HttpAgent } from 'node:http';
import { Agent, type AgentOptions, type Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { Duplex, Readable } from 'node:stream';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { messageOf } from '../../kernel/errors.ts';
import { isRecord } from '../../kernel/json.ts';
import { authorization, type HttpProxy, proxyFor, urlOf } from '../../kernel/network/proxy.ts';
import { connectTrusting } from '../../kernel/network/trust.ts';
import { readBounded } from '../../kernel/streams.ts';

/** The customer's bucket and its credentials; without an access key, the AWS default chain is used. */
export interface BucketSettings {
  bucket?: string | undefined;
  region?: string | undefined;
  endpoint?: string | undefined;
  /** True by default if an endpoint is set. */
  pathStyle?: boolean | undefined;
  awsProfile?: string | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
}

/** A request to the bucket and its result, for --debug. The debug output redacts it. */
export interface BucketExchange {
  method: string;
  url: string;
  status: number | undefined;
  ms: number;
  error: string | undefined;
}

export interface ConnectOptions {
  /** The timeout for connecting, for the first byte, and between two bytes, each in ms. */
  timeoutMs?: number | undefined;
  /** How often a request is sent at most. Default: 4. */
  maxAttempts?: number | undefined;
  trace?: ((exchange: BucketExchange) => void) | undefined;
}

const CONNECT_MS = 10_000;
/** The connection pool: one connection per simultaneous download, kept open between files. */
const POOL = { keepAlive: true, maxSockets: 64 };

/**
 * Connects with the settings of the profile, the environment, and the AWS configuration. Returns the endpoint, too, if it isn't that of AWS.
 */
export async function connect(
  sdk: { S3Client: typeof S3Client },
  settings: BucketSettings,
  options: ConnectOptions & { timeoutMs: number },
): Promise<{ client: S3Client; endpoint: string | undefined }> {
  // The SDK uses the profile's endpoint_url only if the profile is set through the environment, not through the client option.
  if (settings.awsProfile !== undefined) process.env.AWS_PROFILE = settings.awsProfile;
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const agents = {
    http: new HttpAgent(POOL),
    https: new ProxyAgent(POOL, Math.min(CONNECT_MS, options.timeoutMs)),
  };
  const config = clientConfig(settings, options, agents);
  let client = new sdk.S3Client(config);
  let { endpoint } = settings;
  if (endpoint === undefined) {
    // An endpoint from the AWS configuration (endpoint_url, AWS_ENDPOINT_URL_S3) also needs path-style addresses.
    endpoint = await client.config.serviceConfiguredEndpoint?.().catch(() => undefined);
    if (endpoint !== undefined && settings.pathStyle === undefined) {
      client = new sdk.S3Client({ ...config, forcePathStyle: true });
    }
  }
  guardRequests(client.config.requestHandler, agents.https, options.timeoutMs);
  if (options.trace) traceExchanges(client, options.trace);
  routeThroughProxy(client);
  return { client, endpoint };
}

function clientConfig(
  settings: BucketSettings,
  options: ConnectOptions & { timeoutMs: number },
  agents: { http: HttpAgent; https: HttpsAgent },
): S3ClientConfig {
  const { endpoint, accessKeyId, secretAccessKey } = settings;
  const region = settings.region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  return {
    // Custom endpoints ignore the region, but the SDK requires one.
    ...(region === undefined && endpoint === undefined ? {} : { region: region ?? 'us-east-1' }),
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: settings.pathStyle ?? endpoint !== undefined,
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    maxAttempts: options.maxAttempts ?? 4,
    // The bytes are verified when they are written, including those of a resumed download.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: Math.min(CONNECT_MS, options.timeoutMs),
      requestTimeout: options.timeoutMs,
      throwOnRequestTimeout: true,
      // The reader of the body detects a stall.
      socketTimeout: 0,
      httpAgent: agents.http,
      httpsAgent: agents.https,
    },
  };
}

/** The maximum size of an error body. S3 errors are a few hundred bytes of XML. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Makes the handler repeat a request that could not be sent because its connection needs the system's certificates. Limits the memory
 * and time for reading error bodies; the SDK alone would read all of any body.
 */
function guardRequests<Request, Options>(
  handler: { handle: (request: Request, options?: Options) => Promise<{ response: unknown }> },
  agent: HttpsAgent,
  timeoutMs: number,
): void {
  const handle = handler.handle.bind(handler);
  handler.handle = async (request, options) => {
    const answer = await connectTrusting((trust) => {
      Object.assign(agent.options, trust);
      return handle(request, options);
    });
    const { response } = answer;
    if (isRecord(response) && Number(response.statusCode) >= 300 && response.body instanceof Readable)
      response.body = await errorBody(response.body, timeoutMs);
    return answer;
  };
}

/** Traces every attempt, including the SDK's retries. */
function traceExchanges(client: S3Client, trace: NonNullable<ConnectOptions['trace']>): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const started = Date.now();
      const exchange = { ...addressOf(args.request), status: undefined, error: undefined };
      try {
        const answer = await next(args);
        const status = isRecord(answer.response) ? Number(answer.response.statusCode) : undefined;
        trace({ ...exchange, status, ms: Date.now() - started });
        return answer;
      } catch (error) {
        trace({ ...exchange, error: messageOf(error), ms: Date.now() - started });
        throw error;
      }
    },
    // The innermost position: runs once per attempt, before the response is read.
    { step: 'deserialize', name: 'esignTrace', priority: 'low' },
  );
}

/** Routes plain http requests through a proxy: once signed, a request is sent to the proxy with its full URL as the path. */
function routeThroughProxy(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args;
      if (!isRecord(request) || request.protocol !== 'http:') return next(args);
      const { hostname, port } = request;
      const target = urlOf('http:', String(hostname), typeof port === 'number' ? port : undefined);
      const proxy = proxyFor(process.env, target);
      if (proxy === undefined) return next(args);
      Object.assign(request, {
        protocol: proxy.url.protocol,
        hostname: proxy.url.hostname,
        port: proxy.port,
        // The path must stay as it was signed; a URL object would normalize it.
        path: `${target.origin}${String(request.path)}`,
        headers: Object.assign({}, request.headers, authorization(proxy)),
      });
      return next(args);
    },
    { step: 'deserialize', name: 'esignProxy', priority: 'low' },
  );
}

function addressOf(request: unknown): { method: string; url: string } {
  if (!isRecord(request)) return { method: '', url: '' };
  const { method, protocol, hostname, port, path } = request;
  const authority = `${String(hostname)}${port === undefined ? '' : `:${String(port)}`}`;
  return { method: String(method), url: `${String(protocol)}//${authority}${String(path)}` };
}

/** Returns the body, or no bytes if it is too long or stalls; the error then has only the status. */
async function errorBody(body: Readable, timeoutMs: number): Promise<Uint8Array> {
  const timer = setTimeout(() => body.destroy(), timeoutMs);
  try {
    return await readBounded(body, MAX_ERROR_BYTES);
  } catch {
    return new Uint8Array();
  } finally {
    clearTimeout(timer);
  }
}

type Created = (error: Error | null, stream: Duplex) => void;

/** Opens https connections through the proxy, if one is set; hosts in NO_PROXY are contacted directly. */
class ProxyAgent extends Agent {
  readonly #timeoutMs: number;

  constructor(pool: AgentOptions, timeoutMs: number) {
    super(pool);
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(options: RequestOptions, created?: Created): Duplex | null | undefined {
    try {
      const proxy = proxyFor(process.env, urlOf('https:', options.host ?? '', Number(options.port)));
      if (proxy === undefined) return super.createConnection(options, created);
      this.#tunnel(proxy, options).then((socket) => created?.(null, socket), failing(created));
    } catch (error) {
      failing(created)(error);
    }
    return undefined;
  }

  async #tunnel(proxy: HttpProxy, options: RequestOptions): Promise<Duplex> {
    const { host: hostname, port, path: _, ...tls } = options;
    const { connectThrough } = await import('../../kernel/network/tunnel.ts');
    const target = { hostname: hostname ?? '', port: Number(port), timeoutMs: this.#timeoutMs, tls };
    return connectThrough(proxy, target);
  }
}

/** Returns a handler that reports an error to the callback. The types require a stream even then. */
function failing(created: Created | undefined): (error: unknown) => void {
  return (error) => created?.(error instanceof Error ? error : new Error(messageOf(error)), new Duplex());
}
