import type { Envelope } from '../api/resource-types.ts';
import type { OnSearchStart } from '../catalog/find-by-request-id.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import type { PrecedenceFacts } from './precedence.ts';

export interface CreateResult {
  envelope: Envelope;
  /** `reply`: just created. `lookup`: created, but the response was lost and the list shows it. `earlier`: created before. */
  by: 'reply' | 'lookup' | 'earlier';
  warning?: CreateWarning;
  /** Other envelopes of the same request: they emailed their signers as well, or are drafts that couldn't be canceled. */
  others?: readonly PrecedenceFacts[];
  /** With `leavesDrafts`: drafts of the same request that don't count. */
  drafts?: readonly string[];
}

export interface CreateWarning {
  code: 'REQUEST_ID_NOT_ECHOED' | 'INTERRUPTED_CREATE_FOUND';
  message: string;
}

/** Provides the webhook secret of a new envelope. */
export interface WebhookSecretSource {
  /** Returns the secret, after storing it. */
  store(): Promise<string>;
  /** Removes it if the error shows that no envelope has it. */
  discard(error: unknown): Promise<void>;
}

export interface CreateOptions {
  memory: WriteMemory;
  signal?: AbortSignal | undefined;
  /** Called before anything is created, not if the envelope exists. Its errors are passed on. */
  check?: (() => Promise<void>) | undefined;
  /** Not used if the envelope exists. */
  secret?: WebhookSecretSource | undefined;
  searching?: OnSearchStart | undefined;
  /** The envelope can't have been created before this time (ms, service clock). Without it, the whole list is read. */
  since?: number | undefined;
  /** Leaves other drafts of the request to the caller, who sends the one that counts first. */
  leavesDrafts?: boolean | undefined;
}
