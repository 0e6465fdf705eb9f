import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { systemClock, writtenTime } from '../kernel/clock.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { makePrivateFolder, writeFileAtomic } from '../kernel/files/files.ts';
import { parseJson } from '../kernel/json.ts';
import { isPortTaken } from '../kernel/network/listening.ts';
import { type BucketServer, startBucket } from './bucket/server.ts';
import { createDocumentMaker } from './documents/index.ts';
import { ApiError } from './service/base/errors.ts';
import { MAX_OFFSET_MS } from './service/base/sandbox-clock.ts';
import type { Seed } from './service/seed/seed-file.ts';
import { type Service, type ServiceOptions, startService } from './service/server.ts';

/*
 * The entry point of the sandbox: other code imports only this file. It connects the service of the API document, the
 * bucket with its files, and the documents it draws.
 */

interface SandboxOptions extends Omit<ServiceOptions, 'documents' | 'objects' | 'clock' | 'seed'> {
  seed?: Seed | undefined;
  /** False for a new sandbox that starts with only the templates of its seed. */
  hasBuiltInTemplates?: boolean | undefined;
}

export { readSeed, readSeedText, type Seed } from './service/seed/seed-file.ts';

/** A running service, and its bucket with the settings that an S3 client needs. */
export interface Sandbox extends Omit<Service, 'origin'>, BucketKeys {
  /** The base URL of the API, which ends with /api/v1. */
  baseUrl: string;
  endpoint: string;
  bucket: string;
  region: string;
  dashboardUrl: string;
  dataDir: string;
}

const BUCKET = 'esign-sandbox';
const REGION = 'us-east-1';

/**
 * Starts the whole service on this machine.
 * @throws UsageError if a port can't be used, or if the folder can't be created or another sandbox uses it.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  await dataFolder(options.dataDir);
  const keys = await bucketKeys(join(options.dataDir, 'bucket-keys.json'));
  const bucket = await openBucket(options, keys);
  try {
    const service = await startService({
      ...options,
      seed: options.seed?.seed,
      documents: createDocumentMaker({
        sealFolder: options.dataDir,
        hasBuiltIn: options.hasBuiltInTemplates ?? true,
      }),
      objects: bucket.objects,
      clock: systemClock,
    });
    return {
      baseUrl: `${service.origin}/api/v1`,
      apiKey: service.apiKey,
      endpoint: bucket.endpoint,
      bucket: BUCKET,
      region: REGION,
      ...keys,
      dashboardUrl: `${service.origin}/`,
      keys: service.keys,
      orgId: service.orgId,
      dataDir: options.dataDir,
      control: service.control,
      close: async () => {
        await service.close();
        await bucket.close();
      },
    };
  } catch (error) {
    await bucket.close();
    if (error instanceof ApiError && error.details && options.seed)
      throw options.seed.mistakes(error.details);
    throw error;
  }
}

async function openBucket(options: SandboxOptions, keys: BucketKeys): Promise<BucketServer> {
  const start = (port: number) =>
    startBucket({
      dir: join(options.dataDir, 'bucket'),
      port,
      region: REGION,
      bucket: BUCKET,
      ...keys,
    });
  // The bucket's port is 1000 above the API's, or a free one if that is taken.
  const wanted = options.port === 0 || options.port > 64_535 ? 0 : options.port + 1_000;
  try {
    return await start(wanted);
  } catch (error) {
    if (isPortTaken(error)) return start(0);
    throw error;
  }
}

const bucketKeysSchema = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
type BucketKeys = z.infer<typeof bucketKeysSchema>;

/** Returns the credentials of the bucket's only account. They are created once and kept across restarts. */
async function bucketKeys(path: string): Promise<BucketKeys> {
  try {
    return bucketKeysSchema.parse(parseJson(await readFile(path, 'utf8')));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      throw new UsageError(`The sandbox's ${path} can't be read.`, { cause: error });
  }
  const keys = {
    accessKeyId: `SANDBOX${randomBytes(6).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(24).toString('base64url'),
  };
  await writeFileAtomic(path, JSON.stringify(keys));
  return keys;
}

async function dataFolder(path: string): Promise<void> {
  try {
    await makePrivateFolder(path);
  } catch (error) {
    throw new UsageError(`The sandbox can't store its data in ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Use a different folder with --data or ESIGN_STATE_DIR, or store nothing with --ephemeral.',
    });
  }
}

/**
 * Parses the start time of the sandbox's clock. Returns ms since the epoch.
 * @throws UsageError if it isn't a time, or if it is more than a century from now.
 */
export function readTime(value: unknown): number {
  const isMoment = value instanceof Date || typeof value === 'number';
  const at = typeof value === 'string' ? writtenTime(value) : isMoment ? Number(value) : Number.NaN;
  if (Math.abs(at - systemClock.now()) <= MAX_OFFSET_MS) return at;
  if (!Number.isNaN(at))
    throw new UsageError(`The clock can't start at ${JSON.stringify(value)}, more than a century from now.`, {
      hint: "Use a closer date, such as '2026-03-01'.",
    });
  throw new UsageError(`The clock can't start at ${JSON.stringify(value)}.`, {
    hint: "Use a date such as '2026-03-01' or '2026-03-01T09:00:00Z'.",
  });
}
