import type { Client } from '../api/client.ts';
import type { StorageSettings } from '../profiles/profile.ts';
import type { Settings } from '../profiles/resolve.ts';

/**
 * Asks the customer's bucket for something that is not there.
 * `unknown`: it answered, but would say the same to a key that may read.
 * @throws StorageError when it can't be reached or refuses the credentials.
 */
export type CheckBucket = (settings: StorageSettings, signal?: AbortSignal) => Promise<'yes' | 'unknown'>;

/** What is examined: this machine, and where a command would work. */
export interface DoctorContext {
  nodeVersion: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  configDir: string;
  stateDir: string;
  /** The profile store's file. */
  storeFile: string;
  settings(): Promise<Settings>;
  client(): Promise<Client>;
  checkBucket: CheckBucket;
  /** How many contradictions with the API document were recorded for the service in use. */
  contradictions(): Promise<number>;
  now(): number;
  signal: AbortSignal;
}
