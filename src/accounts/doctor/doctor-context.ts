import type { Client } from '../../api/client.ts';
import type { Guards } from '../../settings/guards/guards.ts';
import type { StorageSettings } from '../../settings/profile.ts';
import type { Settings } from '../../settings/resolve.ts';

export interface IndexFacts {
  file: string;
  envelopes: number;
  bytes: number;
  /** When all envelopes of the account were read; undefined if not yet. */
  completeAt: number | undefined;
}

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
  /** Returns the facts about the search index; `off` if the profile keeps none, undefined without an account. */
  index(): Promise<IndexFacts | 'off' | undefined>;
  now(): number;
  signal: AbortSignal;
}
