import { readDuration, readRate } from '../kernel/duration-input.ts';
import { UsageError, WaitTimeoutError } from '../kernel/errors.ts';
import { temporaryFolder } from '../kernel/files/temporary-folder.ts';
import { noMailWithin } from '../kernel/no-mail.ts';
import type { RunningSandbox, SandboxDuration, StartSandboxOptions } from './embed-model.ts';
import { readSeed, startSandbox as startServers } from './index.ts';
import { ApiError } from './service/base/errors.ts';
import type { ControlPlane } from './service/control/control-plane.ts';

export type {
  RunningSandbox,
  SandboxBucket,
  SandboxDelivery,
  SandboxDuration,
  SandboxEnvelope,
  SandboxMail,
  SandboxSeed,
  SandboxSigner,
  SeededKey,
  SeedResult,
  StartSandboxOptions,
} from './embed-model.ts';

/* The package's `esign-cli/sandbox`: a sandbox in the process of whoever imports it. */

/** Who signs from inside a process has no browser. */
const NO_BROWSER = { ip: null, userAgent: null };

/**
 * Starts the whole service in this process, on ports of its own. It takes no signals and reads neither profiles nor
 * environment; until `close` it listens, and then nothing of it is left.
 *
 * ```ts
 * const sandbox = await startSandbox();
 * process.env.ESIGN_BASE_URL = sandbox.baseUrl;
 * process.env.ESIGN_API_KEY = sandbox.apiKey;
 * await sandbox.close();
 * ```
 * @throws UsageError when an option can't be used, a port is taken, or another sandbox has the folder.
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<RunningSandbox> {
  wholeNumber('port', options.port, 65_535);
  wholeNumber('quota', options.quota);
  const rateLimit = rateOf(options.rateLimit);
  const startsAt = timeOf(options.clock);
  const seed = options.seed === undefined ? undefined : await readSeed(options.seed);
  const { port = 0, quota } = options;
  const temporary = options.dataDir === undefined ? await temporaryFolder('esign-sandbox-') : undefined;
  const dataDir = temporary?.path ?? options.dataDir ?? '';
  const forget = () => temporary?.remove();
  try {
    const running = await startServers({
      dataDir,
      host: '127.0.0.1',
      port,
      rateLimit,
      startsAt,
      quota,
      seed,
    });
    const { control, baseUrl, apiKey, dashboardUrl, keys } = running;
    const { endpoint, bucket: name, region, accessKeyId, secretAccessKey } = running;
    const close = async () => {
      await running.close();
      await forget();
    };
    return {
      baseUrl,
      apiKey,
      dashboardUrl,
      keys,
      bucket: { endpoint, name, region, accessKeyId, secretAccessKey },
      ...actionsOf(control),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await forget();
    throw error;
  }
}

type Actions = Pick<
  RunningSandbox,
  'sign' | 'view' | 'decline' | 'advance' | 'mails' | 'deliveries' | 'seed' | 'snapshot' | 'restore' | 'reset'
>;

function actionsOf(control: ControlPlane): Actions {
  return {
    sign: (id, request = {}) => control.sign(id, request, NO_BROWSER),
    view: (id, { signer } = {}) => control.view(id, signer),
    decline: (id, { signer, reason } = {}) => control.decline(id, signer, reason),
    advance: async (time) => control.advance(msOf(time)),
    async mails({ to, envelope, wait } = {}) {
      const waitMs = wait === undefined ? 0 : msOf(wait);
      const found = await control.mails({ to, envelopeId: envelope }, waitMs);
      if (found.length > 0 || wait === undefined) return found;
      throw new WaitTimeoutError(noMailWithin({ to, envelope }, waitMs));
    },
    deliveries: ({ envelope } = {}) => control.deliveries(envelope),
    async seed(source) {
      const seed = await readSeed(source);
      try {
        return await control.seed(seed);
      } catch (error) {
        throw error instanceof ApiError && error.details ? seed.mistakes(error.details) : error;
      }
    },
    snapshot: async (name) => (await control.saveSnapshot(name)).name,
    async restore(name) {
      await control.restoreSnapshot(name);
    },
    reset: () => control.reset(),
  };
}

function msOf(time: SandboxDuration): number {
  if (typeof time === 'number' && Number.isFinite(time) && time >= 0) return Math.round(time);
  return readDuration(String(time));
}

/** Not every test file has its types checked. */
function wholeNumber(name: string, value: number | undefined, max?: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= (max ?? value))) return;
  throw new UsageError(
    `${name} takes a whole number from 0 ${max === undefined ? 'on' : `to ${max}`}, not ${value}.`,
  );
}

function rateOf(wanted: StartSandboxOptions['rateLimit']): { requests: number; seconds: number } | undefined {
  if (wanted === undefined) return undefined;
  if (typeof wanted === 'string') return readRate(wanted);
  if (Number.isInteger(wanted.requests) && wanted.requests > 0 && wanted.seconds > 0) return wanted;
  throw new UsageError(`The rate limit ${JSON.stringify(wanted)} lets nothing through.`);
}

function timeOf(clock: StartSandboxOptions['clock']): number | undefined {
  if (clock === undefined) return undefined;
  const at = new Date(clock).getTime();
  if (!Number.isNaN(at)) return at;
  throw new UsageError(`The clock can't start at ${JSON.stringify(clock)}.`, {
    hint: "Give a date like '2026-03-01' or '2026-03-01T09:00:00Z'.",
  });
}
