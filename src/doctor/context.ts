import type { Client } from '../api/client.ts';
import type { Guards } from '../guards/guards.ts';
import type { StorageSettings } from '../profiles/profile.ts';
import type { Settings } from '../profiles/resolve.ts';

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
  /**
   * Checks the customer's bucket by requesting a missing object.
   * `unknown`: the bucket responded, but a key with read permission may get the same response.
   * @throws StorageError if the bucket can't be reached or refuses the credentials.
   */
  checkBucket(
    settings: StorageSettings,
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<'yes' | 'unknown'>;
  /** Returns how many contradictions with the API document were recorded for the service in use. */
  contradictions(): Promise<number>;
  now(): number;
  signal: AbortSignal;
}
