import { Agent, type RequestOptions } from 'node:https';
import { Duplex } from 'node:stream';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { messageOf } from '../../kernel/errors.ts';
import { isRecord } from '../../kernel/json.ts';
import { type HttpProxy, proxyFor, urlOf } from '../../kernel/network/proxy.ts';
import type { StorageSettings } from '../../settings/profile.ts';
import { readQuotedNames } from './aws-config.ts';
import { awsCredentials, type CredentialRequests, refuseBrokenVariables } from './credentials.ts';

const CONNECT_MS = 10_000;
/**
 * Creates a client with the settings of the profile, the environment, and the AWS configuration. It signs requests to the bucket, and sends
 * only those that get credentials. Returns the endpoint, too, if it isn't that of AWS.
 */
export async function connect(
  sdk: typeof import('./s3-sdk.ts'),
  settings: StorageSettings,
  timeoutMs: number,
): Promise<{ client: S3Client; endpoint: string | undefined }> {
  unsetEmptyVariables();
  refuseBrokenVariables(settings);
  // The SDK uses the profile's endpoint_url only if the profile is set through the environment, not through the client option.
  if (settings.awsProfile !== undefined) process.env.AWS_PROFILE = settings.awsProfile;
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  await readQuotedNames(sdk);
  const config = clientConfig(settings, timeoutMs);
  const asked: CredentialRequests = { handler: undefined, host: undefined };
  config.credentials ??= awsCredentials(sdk, asked, timeoutMs);
  const client = new sdk.S3Client(config);
  const { requestHandler } = client.config;
  asked.handler = requestHandler;
  const handle = requestHandler.handle.bind(requestHandler);
  // Only services that issue credentials are asked through the SDK; requests to the bucket are sent by esign.
  requestHandler.handle = (request: unknown, options) => {
    if (isRecord(request) && typeof request.hostname === 'string') asked.host = request.hostname;
    return handle(request, options);
  };
  if (settings.endpoint !== undefined) return { client, endpoint: settings.endpoint };
  // An endpoint from the AWS configuration (endpoint_url, AWS_ENDPOINT_URL_S3) also needs path-style addresses.
  const endpoint = await client.config.serviceConfiguredEndpoint?.().catch(() => undefined);
  if (endpoint === undefined || settings.pathStyle !== undefined) return { client, endpoint };
  return { client: new sdk.S3Client({ ...config, requestHandler, forcePathStyle: true }), endpoint };
}

/** Removes empty variables, which the SDK would use: an empty region hides the one of the configuration. */
function unsetEmptyVariables(): void {
  for (const [name, value] of Object.entries(process.env))
    if (name.startsWith('AWS_') && value === '') delete process.env[name];
}

function clientConfig(settings: StorageSettings, timeoutMs: number): S3ClientConfig {
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
    // A link must not promise an additional checksum.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: Math.min(CONNECT_MS, timeoutMs),
      requestTimeout: timeoutMs,
      httpsAgent: new ProxyAgent(Math.min(CONNECT_MS, timeoutMs)),
    },
  };
}

type Created = (error: Error | null, stream: Duplex) => void;

/**
 * Opens the SDK's own https connections, to services that issue credentials, through the proxy, if one is set; hosts in NO_PROXY are
 * contacted directly.
 */
class ProxyAgent extends Agent {
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    super();
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
