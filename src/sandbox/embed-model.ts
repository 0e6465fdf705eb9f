/// <reference lib="esnext.disposable" preserve="true" />
/*
 * What a test file says and sees when it runs a sandbox in its own process. These types stand alone: they are the ones of
 * `esign-cli/sandbox`.
 */

import type { SandboxEvent, SandboxFaults, SandboxSeed, SandboxStatus } from './embed-options.ts';

/** Who signed, or is asked to. */
export interface SandboxSigner {
  id: string;
  email: string;
  name: string;
  role: string;
  order: number;
  /** PENDING, SENT, VIEWED, SIGNED or DECLINED. */
  status: string;
  signedAt: string | null;
  declinedAt: string | null;
  declineReason: string | null;
}

/** An envelope as the API shows it. */
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
  /** The exact text that was signed and sent. */
  body: string;
}

/** A duration: `'90s'`, `'2h'`, `'31d'`, or milliseconds. */
export type SandboxDuration = string | number;

/** A key that a seed made. It is the same after each reset. */
export interface SeededKey {
  id: string;
  organisation: string;
  key: string;
  scopes: string[];
  expiresAt: string | null;
}

/** The number of items that a seed added, and its keys. */
export interface SeedResult {
  templates: number;
  organisations: number;
  envelopes: number;
  keys: SeededKey[];
}

/** Where an S3 client finds the documents. */
export interface SandboxBucket {
  endpoint: string;
  name: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * A running sandbox: the whole service at `baseUrl`, and methods for what its users and the passing of time do. A method that
 * the sandbox refuses rejects with a SandboxError, one with an invalid argument with a UsageError.
 */
export interface RunningSandbox {
  /** Ends in /api/v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dashboardUrl: string;
  readonly bucket: SandboxBucket;
  /** The keys of the seed of the start, in its order. */
  readonly keys: readonly SeededKey[];
  /** The next signer whose turn it is signs, or the one named by address or id; `all` in order. */
  sign(
    envelopeId: string,
    request?: {
      signer?: string | undefined;
      values?: Record<string, string | number | boolean> | undefined;
      all?: boolean | undefined;
    },
  ): Promise<SandboxEnvelope>;
  /** Opens it as a signer, without signing. */
  view(envelopeId: string, request?: { signer?: string | undefined }): Promise<SandboxEnvelope>;
  decline(
    envelopeId: string,
    request?: { signer?: string | undefined; reason?: string | undefined },
  ): Promise<SandboxEnvelope>;
  /** Moves the sandbox's clock on: envelopes expire, webhooks are tried again. Its new time, ISO 8601. */
  advance(time: SandboxDuration): Promise<string>;
  /**
   * The mails sent so far, oldest first. With `wait` the first one is waited for so long.
   * @throws WaitTimeoutError if none is sent by then.
   */
  mails(filter?: {
    to?: string | undefined;
    envelope?: string | undefined;
    wait?: SandboxDuration | undefined;
  }): Promise<SandboxMail[]>;
  /**
   * The webhooks so far, oldest first. With `wait`, waits that long until one of them was attempted.
   * @throws WaitTimeoutError when none was by then.
   */
  deliveries(filter?: {
    envelope?: string | undefined;
    event?: SandboxEvent | undefined;
    wait?: SandboxDuration | undefined;
  }): Promise<SandboxDelivery[]>;
  /** All envelopes, oldest first. */
  envelopes(): Promise<SandboxEnvelope[]>;
  /** @throws SandboxError NOT_FOUND */
  envelope(id: string): Promise<SandboxEnvelope>;
  /** Replaces the faults, if `settings` is given; `{}` removes them. Returns them and how often each occurred. */
  faults(settings?: SandboxFaults): Promise<{ settings: object; hits: Record<string, number> }>;
  /** Changes the named choices. Returns all of them, by name. */
  choices(changes?: Record<string, string>): Promise<Record<string, string>>;
  /** Adds data; anything with the same ID is replaced. `reset` restores the initial seed only. */
  seed(seed: SandboxSeed | string): Promise<SeedResult>;
  /** Saves the state, including documents and clock. Returns its name. A snapshot of the same name is replaced. */
  snapshot(name?: string): Promise<string>;
  /** Restores a snapshot by name, or the latest. */
  restore(name?: string): Promise<void>;
  /** Restores the initial state. */
  reset(): Promise<void>;
  /** Stops it, and deletes a temporary folder. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
