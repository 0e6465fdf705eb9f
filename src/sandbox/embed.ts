import { readRate } from '../kernel/duration-input.ts';
import { UsageError } from '../kernel/errors.ts';
import { temporaryFolder } from '../kernel/files/temporary-folder.ts';
import { checkNumber, checkOptionNames, type OptionNames } from '../kernel/options.ts';
import { actionsOf } from './embed-actions.ts';
import type { RunningSandbox } from './embed-model.ts';
import type { StartSandboxOptions } from './embed-options.ts';
import { readSeed, readTime, startSandbox as startServers } from './index.ts';

export { EsignError, UsageError, WaitTimeoutError } from '../kernel/errors.ts';
export { SandboxError } from './embed-errors.ts';
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

/* The package's `esign-cli/sandbox`: a sandbox in the process that imports it. */

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
  const temporary = options.dataDir === undefined ? await temporaryFolder('esign-sandbox-') : undefined;
  const dataDir = temporary?.path ?? options.dataDir ?? '';
  const removeTemporary = () => temporary?.remove();
  try {
    const running = await startServers({
      dataDir,
      host: '127.0.0.1',
      port,
      rateLimit,
      ...clock,
      hasCountedIds: ids,
      quota,
      seed,
      apiKey,
      choices,
      faults: faults === undefined ? undefined : { ...faults },
    });
    const { control, baseUrl, dashboardUrl, keys } = running;
    const { endpoint, bucket: name, region, accessKeyId, secretAccessKey } = running;
    const closing = new AbortController();
    const close = async () => {
      closing.abort();
      await running.close();
      await removeTemporary();
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
    await removeTemporary();
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
  return { ...(at === undefined ? {} : { startsAt: readTime(at) }), isFrozen: frozen === true };
}

function readCountedIds(ids: unknown): boolean {
  if (ids === undefined || ids === 'random') return false;
  if (ids === 'counted') return true;
  throw new UsageError(`ids must be 'random' or 'counted', not ${JSON.stringify(ids)}.`);
}
