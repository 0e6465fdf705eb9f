import type { Client } from '../api/client.ts';
import type { Guards } from '../guards/guards.ts';
import type { StorageSettings } from '../profiles/profile.ts';
import type { Settings } from '../profiles/resolve.ts';

/**
 * Requests a missing object from the customer's bucket.
 * `unknown`: it responded, but a key that can read may get the same response.
 * @throws StorageError when it can't be reached or refuses the credentials.
 */
export type CheckBucket = (settings: StorageSettings, signal?: AbortSignal) => Promise<'yes' | 'unknown'>;

/** The subject of the checks: this machine and the service. */
export interface DoctorContext {
  nodeVersion: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  configDir: string;
  stateDir: string;
  /** The profile store's file. */
  storeFile: string;
  settings(): Promise<Settings>;
  guards(): Promise<Guards>;
  client(): Promise<Client>;
  checkBucket: CheckBucket;
  /** How many contradictions with the API document were recorded for the service in use. */
  contradictions(): Promise<number>;
  now(): number;
  signal: AbortSignal;
}
