import { normalizeBaseUrl } from '../api/base-url.ts';
import { type Client, createClient as createApiClient } from '../api/client.ts';
import { REQUEST_TIMEOUT_MS } from '../api/request-defaults.ts';
import type { Envelope, EnvelopeStatus, Template } from '../api/resource-types.ts';
import { ServiceClock } from '../api/service-clock.ts';
import { userAgentOf } from '../api/user-agent.ts';
import { checkOptionNames, describeValue } from '../kernel/check-options.ts';
import { systemClock } from '../kernel/clock.ts';
import { UnknownOutcomeError, UsageError, VerificationError } from '../kernel/errors.ts';
import { isList } from '../kernel/json.ts';
import { userName } from '../kernel/process/user-name.ts';
import { usableKey } from '../kernel/text/api-key.ts';
import { LogFolder, logFolder } from '../log/log-folder.ts';
import { recordingGate } from '../log/recording-gate.ts';
import { ProcessMemory, type WriteMemory } from '../log/write-memory.ts';
import { remindEnvelope } from '../once/actions/remind-envelope.ts';
import { cancelEnvelope, sendEnvelope } from '../once/actions/send-or-cancel.ts';
import { createBody, newRequestId } from '../once/create-body.ts';
import { createOnce } from '../once/create-envelope.ts';
import { createNow } from '../once/create-now.ts';
import { NO_PAYLOAD, readPayload } from '../webhooks/receive/payload.ts';
import { checkSignature } from '../webhooks/receive/signature.ts';
import type { CreateOutcome, NewEnvelope, Outcome, Page, WebhookEvent } from './model.ts';

// Listed one by one, because `export type *` in the published types requires TypeScript 5.
export type { Envelope, EnvelopeStatus, Signer, Template, TemplateField } from '../api/resource-types.ts';
export {
  BadResponseError,
  type ErrorDetails,
  EsignError,
  NetworkError,
  RequestIdUsedError,
  ServiceError,
  UsageError,
  VerificationError,
} from '../kernel/errors.ts';
export type { CreateOutcome, NewEnvelope, NewSigner, Outcome, Page, WebhookEvent } from './model.ts';

/** The connection to the service, and its timeouts. */
export interface EsignOptions {
  /** For example, https://api.example.com/api/v1. `undefined`, as from a missing environment variable, is refused. */
  baseUrl: string | undefined;
  /** `undefined` is refused. */
  apiKey: string | undefined;
  /** The time limit for connecting, for the first byte, and for the whole response, each in ms. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** How often a request that is safe to repeat is retried. Default: 5. */
  retries?: number | undefined;
  /** The longest wait for the service's rate window, in ms. Default: 60,000. 0 disables waiting. */
  maxWaitMs?: number | undefined;
  /** Called before each wait. */
  onWait?: ((wait: { ms: number; error: Error }) => void) | undefined;
  userAgent?: string | undefined;
  /** Allows a base URL with plain http to another machine. The key is then sent unencrypted. */
  insecureHttp?: boolean | undefined;
  /**
   * A folder in which request IDs are stored and shared with other processes on this machine. Use the folder of the
   * command-line tool to share them with its commands as well. Without a folder, they are shared within this process and
   * forgotten when it ends.
   */
  stateDir?: string | undefined;
}

/** Options of a call. When the signal aborts, the call rejects with the signal's reason. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** The templates of the account. */
export interface EsignTemplates {
  /** Yields all active templates. Pages are read as they are needed. */
  list(options?: CallOptions & { pageSize?: number | undefined }): AsyncGenerator<Template, void, undefined>;
  get(id: string, options?: CallOptions): Promise<Template>;
}

/** The envelopes of the account. Writes return an outcome instead of rejecting if a response is lost. */
export interface EsignEnvelopes {
  /** Yields all envelopes. Pages are read as they are needed. */
  list(
    options?: CallOptions & { status?: EnvelopeStatus | undefined; pageSize?: number | undefined },
  ): AsyncGenerator<Envelope, void, undefined>;
  /** Returns one page of 100, counted from 1. */
  page(
    number: number,
    options?: CallOptions & { status?: EnvelopeStatus | undefined },
  ): Promise<Page<Envelope>>;
  get(id: string, options?: CallOptions): Promise<Envelope>;
  /**
   * Creates an envelope once. If the response is lost, the envelope is searched for, which takes up to a minute, and never created
   * again. To retry later or after a crash, call with the same `requestId`; the envelope is then searched for first. Concurrent
   * calls with one `requestId` create one envelope, even through several clients of this process.
   * @throws RequestIdUsedError if the `requestId` was used for another template or other signers; ServiceError
   *   INVALID_STATE if its envelope was canceled, declined, or expired.
   */
  create(
    envelope: NewEnvelope,
    options?: CallOptions & { requestId?: string | undefined },
  ): Promise<CreateOutcome>;
  /** Sends a draft. */
  send(id: string, options?: CallOptions): Promise<Outcome>;
  cancel(id: string, options?: CallOptions & { reason?: string | undefined }): Promise<Outcome>;
  /** Reminds all pending signers, or the one with this ID or address. Never sent twice. */
  remind(id: string, options?: CallOptions & { signer?: string | undefined }): Promise<Outcome>;
}

/** A client of the e-signature service for one key. */
export interface Esign {
  templates: EsignTemplates;
  envelopes: EsignEnvelopes;
}

/**
 * Creates a client for one key at one base URL. It handles retries, waits, and lost responses as the command line does.
 * It reads neither profiles nor environment variables, except for HTTPS_PROXY, HTTP_PROXY, and NO_PROXY.
 *
 * ```ts
 * const esign = createClient({ baseUrl: 'https://api.example.com/api/v1', apiKey: 'sk_…' });
 * const requestId = 'contract-4711';
 * const signers = [{ email: 'ada@example.com', name: 'Ada Lovelace' }];
 * const made = await esign.envelopes.create({ templateId: 'tmpl_nda', signers }, { requestId });
 * // After a crash, the same call finds the envelope instead of creating another one.
 * if (made.kind === 'unknown') console.error(made.error.message);
 * ```
 * @throws UsageError if the base URL or the key is missing or not valid, and for an unknown option.
 */
export function createClient(options: EsignOptions): Esign {
  // With a misspelled `stateDir`, request IDs would be forgotten when the process ends.
  checkOptionNames('createClient', options, Object.keys(CLIENT_OPTIONS));
  const { stateDir } = options;
  const memory = stateDir === undefined ? memoryOfProcess : new LogFolder(logFolder(stateDir), systemClock);
  const baseUrl = normalizeBaseUrl(requireOption('baseUrl', options.baseUrl), {
    insecureHttp: options.insecureHttp,
  });
  const timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS;
  const facts = { user: userName(), profile: null, baseUrl, command: 'esign-cli/client' };
  const serviceClock = new ServiceClock(systemClock);
  const client = createApiClient({
    baseUrl,
    serviceClock,
    apiKey: usableKey(requireOption('apiKey', options.apiKey), 'apiKey'),
    timeoutMs,
    gate: async () =>
      recordingGate({
        memory,
        facts,
        clock: systemClock,
        serviceNow: () => serviceClock.now(),
        timeoutMs,
        onIncomplete: () => undefined,
      }),
    retries: options.retries,
    maxWaitMs: options.maxWaitMs,
    onWait: options.onWait,
    userAgent: options.userAgent ?? userAgentOf(),
    clock: systemClock,
  });
  return { templates: templatesOf(client), envelopes: envelopesOf(client, memory) };
}

/** Shared by all clients of the process, because two clients for the same service must not create the same envelope. */
const memoryOfProcess = new ProcessMemory();

/** Returns the value of a required option. It is usually missing because an environment variable is not set. */
function requireOption(name: 'baseUrl' | 'apiKey', value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new UsageError(`createClient requires ${name} as a string, but got ${describeValue(value)}.`, {
    hint: 'If it comes from an environment variable, check that the variable is set.',
  });
}

function templatesOf({ templates }: Client): EsignTemplates {
  return {
    list: (options) => templates.list(options),
    get: (id, options) => templates.get(id, options?.signal),
  };
}

function envelopesOf(client: Client, memory: WriteMemory): EsignEnvelopes {
  const { envelopes } = client;
  return {
    list: (options) => envelopes.list(options),
    page: (number, options) => envelopes.page(number, options),
    get: (id, options) => envelopes.get(id, options?.signal),
    async create(input, options = {}) {
      // A misspelled `send` would email nobody, and a misspelled `requestId` create a second envelope when the call is repeated.
      checkOptionNames('A new envelope', input, Object.keys(ENVELOPE_FIELDS), 'field');
      checkFieldTypes(input);
      checkOptionNames('envelopes.create', options, ['requestId', 'signal']);
      const { requestId: given, signal } = options;
      const requestId = given ?? newRequestId();
      const create = given === undefined ? createNow : createOnce;
      const outcome = await outcomeOf(create(client, createBody(input, requestId), { memory, signal }));
      return { ...outcome, requestId };
    },
    send: (id, { signal } = {}) => outcomeOf(sendEnvelope(client, id, signal)),
    cancel: (id, { reason, signal } = {}) => outcomeOf(cancelEnvelope(client, id, reason, signal)),
    async remind(id, { signer, signal } = {}) {
      // It is usually a variable that isn't set, and without a signer, everyone is reminded.
      if (signer === '')
        throw new UsageError('The signer is an empty string.', { hint: 'Leave it out to remind everyone.' });
      return outcomeOf(remindEnvelope(client, id, signer, { signal }));
    },
  };
}

const CLIENT_OPTIONS = {
  baseUrl: true,
  apiKey: true,
  timeoutMs: true,
  retries: true,
  maxWaitMs: true,
  onWait: true,
  userAgent: true,
  insecureHttp: true,
  stateDir: true,
} as const satisfies Record<keyof EsignOptions, true>;

const ENVELOPE_FIELDS = {
  templateId: true,
  signers: true,
  subject: true,
  message: true,
  metadata: true,
  webhookUrl: true,
  webhookSecret: true,
  expiresInDays: true,
  signingOrder: true,
  send: true,
} as const satisfies Record<keyof NewEnvelope, true>;

/** Refuses values that would email people by mistake, such as the text 'false', or cause an internal error. @throws UsageError */
function checkFieldTypes({ send, signers }: { send?: unknown; signers?: unknown }): void {
  if (typeof (send ?? false) !== 'boolean')
    throw new UsageError(`A new envelope requires send as a boolean, but got ${describeValue(send)}.`, {
      hint: 'Pass true or false. Any text, also the text "false", would count as true.',
    });
  if (!isList(signers))
    throw new UsageError(`A new envelope requires signers as an array, but got ${describeValue(signers)}.`, {
      hint: "Example: signers: [{ name: 'Ada Lovelace', email: 'ada@example.com' }]",
    });
}

/** Returns an outcome where the commands would report an error with a hint, so that the program can decide. */
async function outcomeOf(
  doing: Promise<Omit<Extract<Outcome, { kind: 'settled' }>, 'kind'>>,
): Promise<Outcome> {
  try {
    const { envelope, by, warning } = await doing;
    return { kind: 'settled', envelope, by, ...(warning ? { warning } : {}) };
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    return { kind: 'unknown', error: error.cause instanceof Error ? error.cause : error };
  }
}

/**
 * Verifies a webhook delivery and returns its event. The signature is compared in constant time with each secret.
 * @param payload The raw body, exactly as received: a string or bytes, not a parsed object.
 * @param signature The value of the X-Service-Signature header.
 * @param secrets The envelope's webhook secret, or several during a rotation.
 * @throws VerificationError if the signature is missing or does not match, or the body is not a JSON object.
 * @throws UsageError if the payload is not a string or bytes, or the secret is missing.
 */
export function verifyWebhook(
  payload: string | Uint8Array,
  signature: string | readonly string[] | null | undefined,
  secrets: string | readonly string[] | undefined,
): WebhookEvent {
  const bytes = bytesOf(payload);
  const check = checkSignature(bytes, signature ?? undefined, secretsOf(secrets));
  if (!check.ok) throw new VerificationError(`The webhook could not be verified: ${check.reason}.`);
  const { body, ...fields } = readPayload(bytes) ?? NO_PAYLOAD;
  if (body === null) {
    throw new VerificationError('The signature is valid, but the body is not a JSON object.');
  }
  return { ...fields, body };
}

function bytesOf(payload: unknown): Uint8Array {
  if (typeof payload === 'string') return Buffer.from(payload);
  // In a test runner with its own context, a Uint8Array may come from another realm, where instanceof fails.
  if (ArrayBuffer.isView(payload))
    return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength);
  throw new UsageError('The payload must be the raw body, as a string or bytes.', {
    hint: "A parsed body can't be verified. In Express, use express.raw({ type: 'application/json' }).",
  });
}

function secretsOf(given: string | readonly string[] | undefined): readonly string[] {
  const secrets = given === undefined ? [] : typeof given === 'string' ? [given] : given;
  if (secrets.length > 0 && secrets.every((secret) => typeof secret === 'string' && secret.trim() !== ''))
    return secrets;
  throw new UsageError('The webhook secret is missing or empty.', {
    hint: 'Use the webhookSecret that the envelope was created with.',
  });
}
