import * as z from 'zod';
import { readDuration, readRate } from '../kernel/duration-input.ts';
import { type ErrorDetails, EsignError, UsageError, WaitTimeoutError } from '../kernel/errors.ts';
import { makeTemporaryFolder } from '../kernel/files/temporary-folder.ts';
import {
  checkNumber,
  checkObject,
  checkOptionNames,
  checkType,
  type OptionNames,
} from '../kernel/options.ts';
import { EVENTS } from '../kernel/vocabulary.ts';
import { waitExpiredMessage } from '../kernel/wait-expired.ts';
import type { RunningSandbox, SandboxDuration } from './embed-model.ts';
import type { StartSandboxOptions } from './embed-options.ts';
import { readSeed, readTime, startSandbox as startServers } from './index.ts';
import { ApiError } from './service/base/errors.ts';
import { bodySchemas, oneOf, validate } from './service/base/validation.ts';
import type { ControlPlane } from './service/control/control-plane.ts';

export type {
  RunningSandbox,
  SandboxBucket,
  SandboxDelivery,
  SandboxDuration,
  SandboxEnvelope,
  SandboxMail,
  SandboxSigner,
  SeededKey,
  SeedResult,
} from './embed-model.ts';
export type { SandboxFaults, SandboxSeed, StartSandboxOptions } from './embed-options.ts';
export { EsignError, UsageError, WaitTimeoutError };

/* The package's `esign-cli/sandbox`: a sandbox in the process that imports it. */

/**
 * The error when the sandbox refuses an action or is closed. `code` is an API error code, such as NOT_FOUND or INVALID_STATE, or CLOSED.
 */
export class SandboxError extends EsignError {
  static override readonly name = 'SandboxError';
  override readonly name = 'SandboxError';
  /** The HTTP status that the API returns with this code; undefined for CLOSED. */
  readonly status: number | undefined;

  constructor(
    code: string,
    message: string,
    facts: { status?: number | undefined; details?: ErrorDetails | undefined; cause?: unknown } = {},
  ) {
    super(code, message, facts);
    this.status = facts.status;
  }
}

const OPTION_NAMES = {
  apiKey: true,
  choices: true,
  clock: true,
  dataDir: true,
  faults: true,
  ids: true,
  port: true,
  quota: true,
  rateLimit: true,
  seed: true,
} as const satisfies OptionNames<StartSandboxOptions>;

/** Long enough that the 8 characters shown in key lists don't reveal the key. */
const API_KEY = /^[\x21-\x7e]{16,200}$/;

/**
 * Starts the whole service in this process, on its own ports. It handles no signals and reads neither profiles nor environment variables.
 * `close` stops its servers and timers.
 *
 * ```ts
 * const sandbox = await startSandbox();
 * process.env.ESIGN_BASE_URL = sandbox.baseUrl;
 * process.env.ESIGN_API_KEY = sandbox.apiKey;
 * await sandbox.close();
 * ```
 * @throws UsageError if an option is invalid, a port is in use, or another sandbox uses the folder.
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<RunningSandbox> {
  checkOptionNames('startSandbox', options, OPTION_NAMES);
  checkNumber('port', options.port, { min: 0, max: 65_535 });
  checkNumber('quota', options.quota, { min: 0 });
  const apiKey = readApiKey(options.apiKey);
  const rateLimit = rateOf(options.rateLimit);
  const clock = clockOf(options.clock);
  const ids = readCountedIds(options.ids);
  const seed = options.seed === undefined ? undefined : await readSeed(options.seed);
  const { port = 0, quota, choices, faults } = options;
  if (choices !== undefined) checkObject('choices', choices);
  if (faults !== undefined) checkObject('faults', faults);
  const temporary = options.dataDir === undefined ? await makeTemporaryFolder('esign-sandbox-') : undefined;
  const dataDir = temporary?.path ?? options.dataDir ?? '';
  try {
    const running = await startServers({
      dataDir,
      port,
      rateLimit,
      ...clock,
      hasCountedIds: ids,
      quota,
      seed,
      apiKey,
      choices,
      faults,
    });
    const { control, baseUrl, dashboardUrl, keys } = running;
    const { endpoint, bucket: name, region, accessKeyId, secretAccessKey } = running;
    const closing = new AbortController();
    const close = async () => {
      closing.abort();
      await running.close();
      await temporary?.remove();
    };
    return {
      baseUrl,
      apiKey: running.apiKey,
      dashboardUrl,
      keys,
      bucket: { endpoint, name, region, accessKeyId, secretAccessKey },
      ...actionsOf(control, closing.signal),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await temporary?.remove();
    throw error;
  }
}

function readApiKey(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && API_KEY.test(value)) return value;
  throw new UsageError('apiKey must have 16 to 200 ASCII characters, without spaces.');
}

function rateOf(wanted: StartSandboxOptions['rateLimit']): { requests: number; seconds: number } | undefined {
  if (wanted === undefined) return undefined;
  if (typeof wanted === 'string') return readRate(wanted);
  if (Number.isInteger(wanted.requests) && wanted.requests > 0 && wanted.seconds > 0) return wanted;
  throw new UsageError(`Invalid rate limit ${JSON.stringify(wanted)}: it must allow at least one request.`);
}

/** Reads the `clock` option: a time, or an object that contains one. */
function clockOf(clock: StartSandboxOptions['clock']): { startsAt?: number; isFrozen?: boolean } {
  if (clock === undefined) return {};
  if (typeof clock !== 'object' || clock instanceof Date) return { startsAt: readTime(clock) };
  checkOptionNames('clock', clock, { at: true, frozen: true });
  const { at, frozen } = clock;
  checkType('frozen', frozen, 'boolean');
  return { ...(at === undefined ? {} : { startsAt: readTime(at) }), isFrozen: frozen === true };
}

function readCountedIds(ids: unknown): boolean {
  if (ids === undefined || ids === 'random') return false;
  if (ids === 'counted') return true;
  throw new UsageError(`ids must be 'random' or 'counted', not ${JSON.stringify(ids)}.`);
}

const text = z.string({ error: 'Must be a string' }).optional();
const duration = z
  .union([z.string(), z.number()], { error: 'Must be a duration or a number of ms' })
  .optional();
const filters = {
  mails: z.strictObject({ to: text, envelope: text, wait: duration }),
  deliveries: z.strictObject({
    envelope: text,
    event: z.enum(EVENTS, { error: oneOf(EVENTS) }).optional(),
    wait: duration,
  }),
};

/**
 * Returns a method's argument, or an empty object if it is missing. In code without types, nothing else would detect a misspelled name.
 * @throws UsageError naming the method and each wrong field.
 */
function readArgument<T>(method: string, schema: z.ZodType<T>, given: unknown = {}): T {
  const result = validate(schema, given);
  if ('data' in result) return result.data;
  throw new UsageError(withDetails(`The argument of ${method} is not valid`, result.details));
}

type Actions = Omit<
  RunningSandbox,
  'baseUrl' | 'apiKey' | 'dashboardUrl' | 'bucket' | 'keys' | 'close' | typeof Symbol.asyncDispose
>;

/** Returns the methods of a sandbox. After `closing` aborts, all of them reject with CLOSED. */
function actionsOf(control: ControlPlane, closing: AbortSignal): Actions {
  const call = callsUntil(closing);
  return {
    sign: (id, request) =>
      call(() => control.sign(id, readArgument('sign', bodySchemas.controlSign, request))),
    view: (id, request) =>
      call(() => control.view(id, readArgument('view', bodySchemas.controlView, request).signer)),
    decline: (id, request) =>
      call(() => {
        const { signer, reason } = readArgument('decline', bodySchemas.controlDecline, request);
        return control.decline(id, signer, reason);
      }),
    advance: (time) => call(() => control.advance(msOf(time))),
    envelopes: () => call(() => control.envelopes()),
    envelope: (id) => call(() => control.envelope(id)),
    mails: (filter) =>
      call(async () => {
        const { to, envelope, wait } = readArgument('mails', filters.mails, filter);
        const waitMs = wait === undefined ? 0 : msOf(wait);
        const found = await control.mails({ to, envelopeId: envelope }, waitMs, closing);
        if (found.length > 0 || wait === undefined) return found;
        throw new WaitTimeoutError(waitExpiredMessage('email', waitMs, { to, envelope }));
      }),
    deliveries: (filter) =>
      call(async () => {
        const { envelope, event, wait } = readArgument('deliveries', filters.deliveries, filter);
        const waitMs = wait === undefined ? 0 : msOf(wait);
        const found = await control.deliveries({ envelopeId: envelope, event }, waitMs, closing);
        if (wait === undefined || found.some(({ attempts }) => attempts.length > 0)) return found;
        throw new WaitTimeoutError(waitExpiredMessage('webhook', waitMs, { event, envelope }));
      }),
    seed: (source) =>
      call(async () => {
        const seed = await readSeed(source);
        try {
          return await control.seed(seed.seed);
        } catch (error) {
          throw error instanceof ApiError && error.details ? seed.mistakes(error.details) : error;
        }
      }),
    faults: (wanted) => call(() => control.faults(wanted)),
    snapshot: (name) => call(() => control.saveSnapshot(name)),
    restore: (name) => call(() => control.restoreSnapshot(name)),
    reset: () => call(() => control.reset()),
  };
}

/**
 * Returns a function that runs an action unless the sandbox is closed. An action that fails because the sandbox closes in the meantime also
 * rejects with CLOSED.
 */
function callsUntil(closing: AbortSignal) {
  const isClosed = () => closing.aborted;
  return async <T>(action: () => T | Promise<T>): Promise<T> => {
    if (isClosed()) throw closedError();
    try {
      return await action();
    } catch (error) {
      throw isClosed() ? closedError(error) : asSandboxError(error);
    }
  };
}

function msOf(time: SandboxDuration): number {
  if (typeof time === 'number' && Number.isFinite(time) && time >= 0) return Math.round(time);
  return readDuration(String(time));
}

function closedError(cause?: unknown): SandboxError {
  return new SandboxError('CLOSED', 'The sandbox is closed.', { cause });
}

/** Converts an error for the users of `esign-cli/sandbox`. An API error becomes a SandboxError with the details in its message. */
function asSandboxError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status, details } = error;
  return new SandboxError(code, withDetails(error.message, details), { status, details, cause: error });
}

function withDetails(message: string, details: ErrorDetails = {}): string {
  const fields = Object.entries(details).map(([field, texts]) => `${field}: ${texts.join('; ')}`);
  return [message, ...fields].join('. ');
}
