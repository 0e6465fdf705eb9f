import type { Envelope, EnvelopeStatus } from '../api/resource-types.ts';

/** A signer to add to a new envelope. */
export interface NewSigner {
  email: string;
  name: string;
  role?: string;
  order?: number;
}

/** The data of a new envelope. */
export interface NewEnvelope {
  templateId: string;
  /** 1 to 20 signers. */
  signers: NewSigner[];
  subject?: string | undefined;
  message?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  webhookUrl?: string | undefined;
  /** At least 16 characters; only together with `webhookUrl`. */
  webhookSecret?: string | undefined;
  expiresInDays?: number | undefined;
  signingOrder?: 'SEQUENTIAL' | 'PARALLEL' | undefined;
  /** Sends the envelope immediately. Otherwise, it is created as a draft. */
  send?: boolean | undefined;
}

/**
 * The outcome of a write. `settled`: the outcome is known from the response (`reply`), from a search after a lost response
 * (`lookup`), or from an earlier call with the same request ID (`earlier`). `unknown`: the response was lost and the search was
 * inconclusive, so the service may or may not have done it.
 */
export type Outcome =
  | {
      kind: 'settled';
      envelope: Envelope;
      by: 'reply' | 'lookup' | 'earlier';
      /** A problem even though the envelope exists, such as REQUEST_ID_NOT_ECHOED: the service dropped the request ID. */
      warning?: { code: string; message: string } | undefined;
    }
  | { kind: 'unknown'; error: Error };

/** The outcome of a create, with the ID to use for retrying it. */
export type CreateOutcome = Outcome & { requestId: string };

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** The number of pages, if the service returns it. */
  totalPages: number | undefined;
}

/** A verified webhook. Fields missing from the payload are null. */
export interface WebhookEvent {
  /** The ID in the payload, or the SHA-256 of its bytes. A repeated delivery has the same ID. */
  id: string;
  /** For example, `envelope.completed`. */
  event: string | null;
  /** When the event happened, in ISO 8601. */
  timestamp: string | null;
  envelopeId: string | null;
  status: EnvelopeStatus | null;
  /** The signer's email address, in events about one signer. */
  signer: string | null;
  /** The parsed payload. */
  body: Record<string, unknown>;
}
