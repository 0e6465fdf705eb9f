import type { Client } from '../api/client.ts';
import type { Guards } from '../guards/guards.ts';
import type { StorageSettings } from '../profiles/profile.ts';
import type { Settings } from '../profiles/resolve.ts';

/**
 * Checks the customer's bucket by requesting a missing object.
 * `unknown`: the bucket responded, but a key with read permission may get the same response.
 * @throws StorageError if the bucket can't be reached or refuses the credentials.
 */
export type CheckBucket = (
  settings: StorageSettings,
  /** The timeout is in ms. */
  options: { timeoutMs: number; signal: AbortSignal },
) => Promise<'yes' | 'unknown'>;

/** The subject of the checks: this machine and the service. */
export interface DoctorContext {
  nodeVersion: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  configDir: string;
  stateDir: string;
  /** The file of the profile store. */
  storeFile: string;
  settings(): Promise<Settings>;
  guards(): Promise<Guards>;
  client(): Promise<Client>;
  checkBucket: CheckBucket;
  /** Returns how many contradictions with the API document were recorded for the service in use. */
  contradictions(): Promise<number>;
  now(): number;
  signal: AbortSignal;
}
