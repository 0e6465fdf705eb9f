import { normalizeBaseUrl } from '../api/base-url.ts';
import { type Client, createClient as createApiClient } from '../api/client.ts';
import { cancelEnvelope, remindEnvelope, sendEnvelope } from '../envelopes/actions.ts';
import { createEnvelope, newRequestId } from '../envelopes/create.ts';
import { systemClock } from '../kernel/clock.ts';
import { UnknownOutcomeError, UsageError } from '../kernel/errors.ts';
import type { CreateOutcome, Envelope, NewEnvelope, Outcome, Page, Template } from './model.ts';

export {
  BadResponseError,
  type ErrorDetails,
  EsignError,
  NetworkError,
  ServiceError,
  UsageError,
} from '../kernel/errors.ts';
export type {
  CreateOutcome,
  Envelope,
  NewEnvelope,
  NewSigner,
  Outcome,
  Page,
  Signer,
  Template,
  TemplateField,
} from './model.ts';

/** Where the service is, and how patient to be with it. */
export interface EsignOptions {
  /** Like https://api.example.com/api/v1. */
  baseUrl: string;
  apiKey: string;
  /** For connecting, for the first byte and for the whole reply, each in ms. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** How often what is safe to repeat is tried again. Default: 5. */
  retries?: number | undefined;
  /** The longest wait for the service's rate window, in ms. Default: 60,000; 0 does not wait. */
  maxWaitMs?: number | undefined;
  /** Told before each wait. */
  onWait?: ((wait: { ms: number; error: Error }) => void) | undefined;
  userAgent?: string | undefined;
  /** Accepts a base URL with plain http to another machine: the key then travels unencrypted. */
  insecureHttp?: boolean | undefined;
}

/** Stops a call; it then rejects with the signal's reason. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** The templates of the account. */
export interface EsignTemplates {
  /** All active templates, one after the other; pages are read as they are needed. */
  list(options?: CallOptions & { pageSize?: number | undefined }): AsyncGenerator<Template, void, undefined>;
  get(id: string, options?: CallOptions): Promise<Template>;
}

/** The envelopes of the account. Writes answer with what became of them instead of rejecting when a reply is lost. */
export interface EsignEnvelopes {
  /** All envelopes, one after the other; pages are read as they are needed. */
  list(
    options?: CallOptions & { status?: string | undefined; pageSize?: number | undefined },
  ): AsyncGenerator<Envelope, void, undefined>;
  /** One page of 100, counted from 1. */
  page(number: number, options?: CallOptions & { status?: string | undefined }): Promise<Page<Envelope>>;
  get(id: string, options?: CallOptions): Promise<Envelope>;
  /**
   * Creates an envelope once. After a lost reply it is looked for, never created again. To try again later, or after a
   * crash, call with the same `requestId`: it is then looked for first.
   */
  create(
    wanted: NewEnvelope,
    options?: CallOptions & { requestId?: string | undefined },
  ): Promise<CreateOutcome>;
  /** Sends a draft. */
  send(id: string, options?: CallOptions): Promise<Outcome>;
  cancel(id: string, options?: CallOptions & { reason?: string | undefined }): Promise<Outcome>;
  /** Reminds all pending signers, or the one named by id or address. Never sent twice. */
  remind(id: string, options?: CallOptions & { signer?: string | undefined }): Promise<Outcome>;
}

/** The e-signature service for one key. */
export interface Esign {
  templates: EsignTemplates;
  envelopes: EsignEnvelopes;
}

const TIMEOUT_MS = 30_000;

/**
 * A client for one key at one base URL, with the retries, waits and settled writes of the command line.
 * It reads neither profiles nor environment, except for HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
 *
 * ```ts
 * const esign = createClient({ baseUrl: 'https://api.example.com/api/v1', apiKey: 'sk_…' });
 * const requestId = 'contract-4711';
 * const signers = [{ email: 'ada@example.com', name: 'Ada Lovelace' }];
 * const made = await esign.envelopes.create({ templateId: 'tmpl_nda', signers }, { requestId });
 * // After a crash the same call finds the envelope instead of making another one.
 * if (made.kind === 'unknown') console.error(made.error.message);
 * ```
 * @throws UsageError when the base URL or the key can't be used.
 */
export function createClient(options: EsignOptions): Esign {
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new UsageError('The API key is empty or has characters that no key has.', {
      hint: 'Give the key as the service showed it, without blanks or line breaks.',
    });
  }
  const client = createApiClient({
    baseUrl: normalizeBaseUrl(options.baseUrl, { insecureHttp: options.insecureHttp }),
    apiKey: options.apiKey,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries,
    maxWaitMs: options.maxWaitMs,
    onWait: options.onWait,
    userAgent: options.userAgent ?? 'esign-cli-client',
    clock: systemClock,
  });
  return { templates: templatesOf(client), envelopes: envelopesOf(client) };
}

function templatesOf({ templates }: Client): EsignTemplates {
  return {
    list: (options) => templates.list(options),
    get: (id, { signal } = {}) => templates.get(id, signal),
  };
}

function envelopesOf(client: Client): EsignEnvelopes {
  const { envelopes } = client;
  return {
    list: (options) => envelopes.list(options),
    page: (number, options) => envelopes.page(number, options),
    get: (id, { signal } = {}) => envelopes.get(id, signal),
    async create(wanted, { requestId: given, signal } = {}) {
      const requestId = given ?? newRequestId();
      const again = { requestId, rerun: given !== undefined, ...(signal ? { signal } : {}) };
      return { ...(await outcomeOf(createEnvelope(client, wanted, again))), requestId };
    },
    send: (id, { signal } = {}) => outcomeOf(sendEnvelope(client, id, signal)),
    cancel: (id, { reason, signal } = {}) => outcomeOf(cancelEnvelope(client, id, reason, signal)),
    remind: (id, { signer, signal } = {}) => outcomeOf(remindEnvelope(client, id, signer, signal)),
  };
}

/** What the commands report as an error with advice is a value here: a program decides by itself. */
async function outcomeOf(
  doing: Promise<{ envelope: Envelope; by: 'reply' | 'lookup' | 'earlier' }>,
): Promise<Outcome> {
  try {
    const { envelope, by } = await doing;
    return { kind: 'settled', envelope, by };
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    return { kind: 'unknown', error: error.cause instanceof Error ? error.cause : error };
  }
}
