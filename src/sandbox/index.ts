import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { systemClock } from '../kernel/clock.ts';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { privateFolder, writeFileAtomic } from '../kernel/files/files.ts';
import { parseJson } from '../kernel/json.ts';
import { type BucketServer, startBucket } from './bucket/server.ts';
import { createDocumentMaker } from './documents/index.ts';
import type { SeededKey } from './embed-model.ts';
import { NO_OBJECTS } from './no-objects.ts';
import { ApiError } from './service/base/errors.ts';
import type { ControlPlane } from './service/control/control-plane.ts';
import type { Seed } from './service/seed/seed-file.ts';
import { startService } from './service/server.ts';

/*
 * The entry point of the sandbox: other code imports only this file. It connects the service of the API document, the
 * bucket with its files, and the documents it draws.
 */

export interface SandboxOptions {
  /** Folder of the state: created if it is missing, reused if it contains a sandbox. */
  dataDir: string;
  /** Address to bind; loopback unless the user asked otherwise. */
  host: string;
  /** Port of the API; 0 takes a free one. */
  port: number;
  /** Port of the S3 endpoint; 0 takes a free one. Without it: 1000 above the API's, or a free one. */
  bucketPort?: number | undefined;
  /** Requests per window and key; default 10,000 per 15 minutes (API document, Limits). */
  rateLimit?: { requests: number; seconds: number } | undefined;
  /** The initial data of a new sandbox, restored by a reset. Existing data in the folder is kept. */
  seed?: Seed | undefined;
  /** False for a new sandbox that begins with the templates of its seed only. */
  hasBuiltInTemplates?: boolean | undefined;
  /** False where nobody will look at the documents: they are empty, and the bucket stays empty, too. */
  drawsDocuments?: boolean | undefined;
  /** Where the sandbox's clock starts, in ms since the epoch; without it at the machine's time, or where it was left. */
  startsAt?: number | undefined;
  /** The sandbox's clock stands still, except for `advance`. */
  isFrozen?: boolean | undefined;
  /** IDs count up per kind, such as `env_1`, instead of being random. */
  countsIds?: boolean | undefined;
  /** The API key; a random one, or that of the folder, when omitted. */
  apiKey?: string | undefined;
  /** Envelopes per calendar month; none when absent. */
  quota?: number | undefined;
  /** How to read points the API document leaves open: name to value. */
  choices?: Record<string, string> | undefined;
  /** Faults to inject; a JSON object as for `sandbox faults`. */
  faults?: Record<string, unknown> | undefined;
  /** Called with a line for each internal failure, with its cause. */
  tell?: ((line: string) => void) | undefined;
}

export { readSeed, type Seed } from './service/seed/seed-file.ts';
export { readTime } from './start-time.ts';

export interface Sandbox {
  /** Ends in /api/v1. */
  baseUrl: string;
  apiKey: string;
  /** S3 endpoint and what a client needs for it. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  dashboardUrl: string;
  orgId: string;
  dataDir: string;
  /** Those of the seed. */
  keys: SeededKey[];
  /** The control plane. */
  control: ControlPlane;
  /** Stops listening, finishes what is written; resolves when the state is on disk. */
  close(): Promise<void>;
}

const BUCKET = 'esign-sandbox';
const REGION = 'us-east-1';

/**
 * Starts the whole service on this machine.
 * @throws UsageError for a port that is taken, or a folder that can't be made or that another sandbox uses.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  await dataFolder(options.dataDir);
  const keys = await bucketKeys(join(options.dataDir, 'bucket-keys.json'));
  const bucket = await openBucket(options, keys);
  try {
    const service = await startService({
      dataDir: options.dataDir,
      host: options.host,
      port: options.port,
      rateLimit: options.rateLimit ?? { requests: 10_000, seconds: 900 },
      quota: options.quota ?? null,
      documents: createDocumentMaker({
        sealFolder: options.dataDir,
        hasBuiltIn: options.hasBuiltInTemplates ?? true,
        isBlank: !(options.drawsDocuments ?? true),
      }),
      objects: options.drawsDocuments === false ? NO_OBJECTS : bucket.objects(BUCKET),
      clock: systemClock,
      startsAt: options.startsAt,
      isFrozen: options.isFrozen,
      countsIds: options.countsIds,
      apiKey: options.apiKey,
      seed: options.seed,
      choices: options.choices ?? {},
      faults: options.faults,
      ...(options.tell ? { tell: options.tell } : {}),
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
    throw taken(error, options.port, '--port');
  }
}

async function openBucket(options: SandboxOptions, keys: BucketKeys): Promise<BucketServer> {
  const start = (port: number) =>
    startBucket({
      dir: join(options.dataDir, 'bucket'),
      host: options.host,
      port,
      region: REGION,
      buckets: [BUCKET],
      accounts: [keys],
      now: () => Date.now(),
    });
  const wanted = options.bucketPort ?? (options.port === 0 ? 0 : options.port + 1_000);
  try {
    return await start(wanted > 65_535 ? 0 : wanted);
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE' && options.bucketPort === undefined) return start(0);
    throw taken(error, wanted, '--bucket-port');
  }
}

function taken(error: unknown, port: number, flag: string): unknown {
  if (codeOf(error) !== 'EADDRINUSE') return error;
  return new UsageError(`Port ${port} is taken, maybe by another sandbox.`, {
    cause: error,
    hint: `Use another port with ${flag}; 0 for any free one.`,
  });
}

const bucketKeysSchema = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
type BucketKeys = z.infer<typeof bucketKeysSchema>;

/** The bucket's only account; made once, so that a restart keeps it. */
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
    await privateFolder(path);
  } catch (error) {
    throw new UsageError(`The sandbox can't keep its data in ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Use another folder with --data or ESIGN_STATE_DIR, or store nothing with --ephemeral.',
    });
  }
}
