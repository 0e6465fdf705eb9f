import { randomUUID } from 'node:crypto';
import type { Client } from '../api/client.ts';
import type { CreateEnvelopeBody } from '../api/envelopes.ts';
import type { Envelope } from '../api/schemas.ts';
import { sentenceOf, UnknownOutcomeError, UsageError } from '../kernel/errors.ts';
import { LIMITS } from '../kernel/vocabulary.ts';
import { sendEnvelope } from './actions.ts';
import { findByRequestId, REQUEST_ID_KEY, settleCreate } from './settle.ts';
import type { NewSigner } from './signer-mailbox.ts';

export interface NewEnvelope {
  templateId: string;
  signers: NewSigner[];
  subject?: string | undefined;
  message?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  webhookUrl?: string | undefined;
  webhookSecret?: string | undefined;
  expiresInDays?: number | undefined;
  signingOrder?: string | undefined;
  send?: boolean | undefined;
}

/** The request body for a new envelope, with its request id in the metadata. Source: Create envelope body. */
export function createBody(wanted: NewEnvelope, requestId: string): CreateEnvelopeBody {
  if (wanted.webhookSecret !== undefined && wanted.webhookSecret.length < LIMITS.webhookSecret) {
    throw new UsageError(
      `The webhook secret is too short: it needs at least ${LIMITS.webhookSecret} characters.`,
      { hint: 'Make one: `esign events secret > FILE`.' },
    );
  }
  if (wanted.webhookSecret !== undefined && wanted.webhookUrl === undefined) {
    throw new UsageError('A webhook secret without a webhook URL has no use.', {
      hint: 'Add --webhook-url.',
    });
  }
  return {
    templateId: wanted.templateId,
    signers: wanted.signers,
    ...(wanted.subject === undefined ? {} : { subject: wanted.subject }),
    ...(wanted.message === undefined ? {} : { message: wanted.message }),
    metadata: { ...wanted.metadata, [REQUEST_ID_KEY]: requestId },
    ...(wanted.webhookUrl === undefined ? {} : { webhookUrl: wanted.webhookUrl }),
    ...(wanted.webhookSecret === undefined ? {} : { webhookSecret: wanted.webhookSecret }),
    ...(wanted.expiresInDays === undefined ? {} : { expiresInDays: wanted.expiresInDays }),
    ...(wanted.signingOrder === undefined ? {} : { signingOrder: wanted.signingOrder }),
    ...(wanted.send ? { sendImmediately: true } : {}),
  };
}

/** A request id nobody else will make. */
export function newRequestId(): string {
  return randomUUID();
}

export interface Created {
  envelope: Envelope;
  /** `reply`: just created. `lookup`: created, its reply was lost and it was found. `earlier`: an earlier run had created it. */
  by: 'reply' | 'lookup' | 'earlier';
}

/**
 * Creates an envelope, at most once for a request id. With `rerun`, an envelope that an earlier run
 * created under the same id is looked for first and returned.
 * @throws UnknownOutcomeError when the reply was lost and the envelope was not found.
 */
export async function createEnvelope(
  client: Client,
  wanted: NewEnvelope,
  options: {
    requestId: string;
    rerun: boolean;
    signal?: AbortSignal;
    /** Called before anything is created; what it throws is passed on. */
    check?: () => Promise<void>;
  },
): Promise<Created> {
  const { requestId, rerun, signal, check } = options;
  const body = createBody(wanted, requestId);
  if (rerun) {
    const earlier = await findByRequestId(client, { requestId, templateId: wanted.templateId }, signal);
    if (earlier) return { envelope: await sendIfWanted(client, earlier, wanted, signal), by: 'earlier' };
  }
  await check?.();
  const outcome = await settleCreate(client, body, requestId, signal);
  if (outcome.kind === 'settled') return { envelope: outcome.value, by: outcome.by };
  throw new UnknownOutcomeError(
    `It is not known whether the envelope was created: ${sentenceOf(outcome.error)} It was looked for and not found.`,
    {
      cause: outcome.error,
      hint: `Run the same command again with --request-id ${requestId}: it looks first, and creates only what is not there.`,
    },
  );
}

/** An earlier run may have died between creating a draft and sending it. */
async function sendIfWanted(
  client: Client,
  envelope: Envelope,
  wanted: NewEnvelope,
  signal?: AbortSignal,
): Promise<Envelope> {
  if (!wanted.send || envelope.status !== 'DRAFT') return envelope;
  return (await sendEnvelope(client, envelope.id, signal)).envelope;
}
