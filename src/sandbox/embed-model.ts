/// <reference lib="esnext.disposable" preserve="true" />
/*
 * The types that a test file uses when it runs a sandbox in its own process. They depend on no other module, because they are the published
 * types of `esign-cli/sandbox`.
 */

import type { SandboxEvent, SandboxFaults, SandboxSeed, SandboxStatus } from './embed-options.ts';

/** A signer of an envelope. */
export interface SandboxSigner {
  id: string;
  email: string;
  name: string;
  role: string;
  order: number;
  /** PENDING, SENT, VIEWED, SIGNED, or DECLINED. */
  status: string;
  signedAt: string | null;
  declinedAt: string | null;
  declineReason: string | null;
}

/** An envelope as the API returns it. */
export interface SandboxEnvelope {
  id: string;
  templateId: string;
  templateName: string;
  status: SandboxStatus;
  signingOrder: 'SEQUENTIAL' | 'PARALLEL';
  subject: string;
  message: string;
  signers: SandboxSigner[];
  metadata: Record<string, unknown>;
  webhookUrl: string | null;
  expiresAt: string;
  createdAt: string;
  sentAt: string | null;
  completedAt: string | null;
  documentStorageKey: string;
  signedDocumentStorageKey: string | null;
  certificateStorageKey: string | null;
}

/** An email that the service would have sent. */
export interface SandboxMail {
  id: string;
  at: string;
  kind: 'request' | 'reminder' | 'completed' | 'declined' | 'cancelled' | 'expired';
  envelopeId: string;
  signerId: string | null;
  to: string;
  subject: string;
  text: string;
  /** The signing page; null if the email doesn't ask for a signature. */
  link: string | null;
}

/** A webhook and its attempts. */
export interface SandboxDelivery {
  id: string;
  envelopeId: string;
  event: string;
  url: string;
  createdAt: string;
  state: 'pending' | 'delivered' | 'failed';
  nextAttemptAt: string | null;
  attempts: { at: string; status: number | null; error: string | null; ms: number }[];
  /** The exact payload that was signed and sent. */
  body: string;
}

/** A duration: `'90s'`, `'2h'`, `'31d'`, or milliseconds. */
export type SandboxDuration = string | number;

/** A key created by a seed. It stays the same after a reset. */
export interface SeededKey {
  id: string;
  organisation: string;
  key: string;
  scopes: string[];
  expiresAt: string | null;
}

/** The number of items that a seed added, and the keys it created. */
export interface SeedResult {
  templates: number;
  envelopes: number;
  keys: SeededKey[];
}

/** The bucket with the documents, and the credentials for an S3 client. */
export interface SandboxBucket {
  endpoint: string;
  name: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * A running sandbox: the whole service at `baseUrl`, and methods that act as its users and move its clock. A method rejects with a
 * SandboxError if the sandbox refuses the action, and with a UsageError for an invalid argument.
 */
export interface RunningSandbox {
  /** The base URL of the API, which ends with /api/v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dashboardUrl: string;
  readonly bucket: SandboxBucket;
  /** The keys of the initial seed, in its order. */
  readonly keys: readonly SeededKey[];
  /** Signs as the next signer, or as the one with the given email address or ID. With `all`, signs as all remaining signers in order. */
  sign(
    envelopeId: string,
    request?: {
      signer?: string | undefined;
      values?: Record<string, string | number | boolean> | undefined;
      all?: boolean | undefined;
    },
  ): Promise<SandboxEnvelope>;
  /** Opens the envelope as a signer, without signing. */
  view(envelopeId: string, request?: { signer?: string | undefined }): Promise<SandboxEnvelope>;
  decline(
    envelopeId: string,
    request?: { signer?: string | undefined; reason?: string | undefined },
  ): Promise<SandboxEnvelope>;
  /** Moves the sandbox's clock forward: envelopes expire, and webhooks are retried. Returns the new time, ISO 8601. */
  advance(time: SandboxDuration): Promise<string>;
  /**
   * Returns the emails sent so far, oldest first. With `wait`, waits up to that long for the first one.
   * @throws WaitTimeoutError if none is sent by then.
   */
  mails(filter?: {
    to?: string | undefined;
    envelope?: string | undefined;
    wait?: SandboxDuration | undefined;
  }): Promise<SandboxMail[]>;
  /**
   * Returns the webhooks so far, oldest first. With `wait`, waits up to that long until one of them was attempted.
   * @throws WaitTimeoutError if none was attempted by then.
   */
  deliveries(filter?: {
    envelope?: string | undefined;
    event?: SandboxEvent | undefined;
    wait?: SandboxDuration | undefined;
  }): Promise<SandboxDelivery[]>;
  /** Returns all envelopes, oldest first. */
  envelopes(): Promise<SandboxEnvelope[]>;
  /** Returns an envelope. @throws SandboxError NOT_FOUND */
  envelope(id: string): Promise<SandboxEnvelope>;
  /** Replaces the faults if `settings` is given; `{}` removes them. Returns the faults and how often each occurred. */
  faults(settings?: SandboxFaults): Promise<{ settings: object; hits: Record<string, number> }>;
  /** Loads data. Anything with the same ID is replaced. `reset` restores only the initial seed. */
  seed(seed: SandboxSeed | string): Promise<SeedResult>;
  /** Saves the state, including documents and the clock. Replaces a snapshot with the same name. Returns the name. */
  snapshot(name?: string): Promise<string>;
  /** Restores a snapshot by name, or the latest. */
  restore(name?: string): Promise<void>;
  /** Restores the initial state. */
  reset(): Promise<void>;
  /** Stops the sandbox, and deletes its folder if that is temporary. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
