import { randomUUID } from 'node:crypto';
import { durationInWords } from '../kernel/duration.ts';
import { EsignError, StorageError, sentenceOf } from '../kernel/errors.ts';
import { type Bucket, openBucket } from './bucket.ts';
import type { ConnectOptions } from './connection.ts';
import { proxyOf } from './proxy.ts';
import type { StorageSettings } from './storage-settings.ts';

/** One thing that was looked at: well, or why not and what to do. */
export interface Finding {
  ok: boolean;
  /** What was looked at, and how it is where it is well. */
  what: string;
  why?: string;
  fix?: string;
}

export interface CheckOptions extends ConnectOptions {
  /** A key known to exist, such as that of an envelope's document; with it reading is proven, too. */
  key?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A clock this far off gets signatures refused. */
const SKEW_MS = 4 * 60_000;

/**
 * Looks at the bucket as a download would: is it configured, does it answer, are the credentials taken,
 * may they read. Never throws for what is wrong with the bucket; a missing object is asked for on purpose.
 */
export async function checkBucket(settings: StorageSettings, options: CheckOptions = {}): Promise<Finding[]> {
  let bucket: Bucket;
  try {
    bucket = await openBucket(settings, options);
  } catch (error) {
    return [failing('bucket', error)];
  }
  try {
    const findings: Finding[] = [
      { ok: true, what: `bucket ${bucket.name} at ${settings.endpoint ?? 'AWS'}` },
    ];
    const proxy = proxyOf(process.env, settings.endpoint?.startsWith('http:') ? 'http' : 'https');
    if (proxy !== undefined) findings.push({ ok: true, what: `proxy ${proxy.host}, except for NO_PROXY` });
    findings.push(...(await probe(bucket, options)));
    const offset = bucket.clockOffset();
    if (Math.abs(offset) > SKEW_MS) {
      findings.push({
        ok: false,
        what: 'clock',
        why: `The clock of this machine is off by ${durationInWords(Math.abs(offset))}.`,
        fix: 'Set the clock.',
      });
    }
    return findings;
  } finally {
    bucket.close();
  }
}

async function probe(bucket: Bucket, options: CheckOptions): Promise<Finding[]> {
  const { key, signal } = options;
  if (key !== undefined) {
    try {
      await bucket.head(key, signal);
      return [
        { ok: true, what: 'credentials' },
        { ok: true, what: 'permission to read' },
      ];
    } catch (error) {
      if (signal?.aborted || !isMissing(error)) return [failing('access', error)];
    }
  }
  const error = await refusalOf(bucket, signal);
  if (error === undefined || isMissing(error)) {
    const where = error === undefined ? '' : ` (${error.message})`;
    // NoSuchBucket is NOT_FOUND, too, and says so in its words.
    if (where.includes('no such bucket')) return [failing('bucket', error)];
    return [
      { ok: true, what: 'credentials' },
      { ok: true, what: 'permission to read' },
    ];
  }
  if (error.code !== 'STORAGE_DENIED') return [failing('access', error)];
  return [
    { ok: true, what: 'credentials' },
    {
      ok: false,
      what: 'permission to read',
      why: 'The bucket refuses to say whether an object is there: without s3:ListBucket a missing one looks like a forbidden one.',
      fix: 'Allow s3:GetObject on the objects, and s3:ListBucket on the bucket for plain answers; then try `esign documents head KEY`.',
    },
  ];
}

/** How the bucket answers to an object that is surely not there. A GET, since the answer to HEAD has no words. */
async function refusalOf(bucket: Bucket, signal: AbortSignal | undefined): Promise<EsignError | undefined> {
  try {
    const opened = await bucket.open(`esign/doctor/${randomUUID()}`, { signal });
    if (opened.kind === 'object') opened.cancel();
    return undefined;
  } catch (error) {
    if (error instanceof EsignError) return error;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'STORAGE_NOT_FOUND';
}

function failing(what: string, error: unknown): Finding {
  if (!(error instanceof EsignError)) throw error;
  const fix = error.hint === undefined ? {} : { fix: error.hint };
  return { ok: false, what, why: sentenceOf(error), ...fix };
}
