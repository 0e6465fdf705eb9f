import * as z from 'zod';
import { checkOptionNames } from '../kernel/check-options.ts';
import { readDuration, readRate } from '../kernel/duration-input.ts';
import { type ErrorDetails, EsignError, UsageError, WaitTimeoutError } from '../kernel/errors.ts';
import { makeTemporaryFolder } from '../kernel/files/temporary-folder.ts';
import { isRecord } from '../kernel/json.ts';
import { EVENTS } from '../kernel/vocabulary.ts';
import { waitExpiredMessage } from '../kernel/wait-expired.ts';
import type { RunningSandbox, SandboxDuration } from './embed-model.ts';
import type { SandboxSeed, StartSandboxOptions } from './embed-options.ts';
import { readSeed, readTime, startSandbox as startServers } from './index.ts';
import { ApiError } from './service/base/errors.ts';
import { bodySchemas, oneOf, validate, wholeNumberSchema } from './service/base/validation.ts';
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
  const {
    port = 0,
    clock,
    ids,
    rateLimit,
    seed,
    dataDir,
    ...others
  } = readArgument('startSandbox', startOptions, options);
  const initial = {
    ...others,
    port,
    startsAt: clock?.at === undefined ? undefined : readTime(clock.at),
    isFrozen: clock?.frozen,
    hasCountedIds: ids === 'counted',
    rateLimit: typeof rateLimit === 'string' ? readRate(rateLimit) : rateLimit,
    seed: seed === undefined ? undefined : await readSeed(seed),
  };
  const temporary = dataDir === undefined ? await makeTemporaryFolder('esign-sandbox-') : undefined;
  try {
    const running = await startServers({ ...initial, dataDir: temporary?.path ?? dataDir ?? '' });
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

const text = z.string({ error: 'Must be a string' }).optional();
const object = z.custom<Record<string, string>>(isRecord, { error: 'Must be an object' }).optional();
const time = z.union([z.date(), z.string(), z.number()]);

/** The options of `startSandbox`. The code that reads a seed, faults, or choices validates them. */
const startOptions = z.strictObject({
  seed: z.custom<SandboxSeed | string>().optional(),
  dataDir: text,
  port: wholeNumberSchema(0, 65_535).optional(),
  clock: z
    .union(
      [
        time.transform((at) => ({ at, frozen: false })),
        z.strictObject({ at: time.optional(), frozen: z.boolean().optional() }),
      ],
      { error: 'Must be a time, or { at, frozen }' },
    )
    .optional(),
  ids: z.enum(['random', 'counted'], { error: oneOf(['random', 'counted']) }).optional(),
  // Long enough that the 8 characters shown in key lists don't reveal the key.
  apiKey: z
    .string({ error: 'Must be a string' })
    .regex(/^[\x21-\x7e]{16,200}$/, { error: 'Must have 16 to 200 ASCII characters, without spaces' })
    .optional(),
  quota: z
    .custom<number>(
      (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0),
      {
        error: 'Must be a whole number of at least 0',
      },
    )
    .optional(),
  faults: object,
  choices: object,
  rateLimit: z
    .union([z.string(), z.strictObject({ requests: z.int().min(1), seconds: z.number().positive() })], {
      error: 'Must be N/TIME, or { requests, seconds } with at least one request',
    })
    .optional(),
}) satisfies z.ZodObject<Record<keyof StartSandboxOptions, z.ZodType>>;
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
function readArgument<Shape extends z.core.$ZodLooseShape>(
  method: string,
  schema: z.ZodObject<Shape>,
  given: unknown = {},
) {
  checkOptionNames(method, given, Object.keys(schema.shape));
  const result = validate(schema, given);
  if ('data' in result) return result.data;
  throw new UsageError(withDetails(`The argument of ${method} is not valid`, result.details));
}

type SandboxActions = Omit<
  RunningSandbox,
  'baseUrl' | 'apiKey' | 'dashboardUrl' | 'bucket' | 'keys' | 'close' | typeof Symbol.asyncDispose
>;

/** Returns the methods of a sandbox. After `closing` aborts, all of them reject with CLOSED. */
function actionsOf(control: ControlPlane, closing: AbortSignal): SandboxActions {
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
