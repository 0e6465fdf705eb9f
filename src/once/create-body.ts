import { randomUUID } from 'node:crypto';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import type { PlannedWrite } from '../api/write-gate.ts';
import { signersByOrder } from '../catalog/turns.ts';
import { UsageError } from '../kernel/errors.ts';
import { subjectProblem, textProblem } from '../kernel/text/control-characters.ts';
import { CONTENT_KEY, LIMITS, REQUEST_ID_KEY, type SigningOrder } from '../kernel/vocabulary.ts';
import { contentOf } from './request-identity.ts';

/** A signer in the API's create body. */
export interface SignerInput {
  email: string;
  name: string;
  role?: string;
  order?: number;
}

/** What a user gives for a new envelope. */
export interface EnvelopeInput {
  templateId: string;
  signers: SignerInput[];
  subject?: string | undefined;
  message?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  webhookUrl?: string | undefined;
  webhookSecret?: string | undefined;
  expiresInDays?: number | undefined;
  signingOrder?: string | undefined;
  send?: boolean | undefined;
  /** `metadata.esignContent`, if it isn't that of these fields: a list's is that of the subject before names are filled in. */
  content?: string | undefined;
}

/** Returns the write for the guards. */
export function plannedCreate({ signers, send }: Pick<EnvelopeInput, 'signers' | 'send'>): PlannedWrite {
  return { action: 'create', emails: signers.map(({ email }) => email), sends: send ?? false };
}

/** Returns the request body for a new envelope, with its request ID and its content in the metadata. Source: Create envelope body. */
export function createBody(input: EnvelopeInput, requestId: string): CreateEnvelopeBody {
  refuseUnprintable(input);
  if (input.webhookSecret !== undefined && input.webhookSecret.length < LIMITS.webhookSecret) {
    throw new UsageError(
      `The webhook secret is too short: it needs at least ${LIMITS.webhookSecret} characters.`,
      { hint: 'Create one with `openssl rand -hex 32 > FILE`.' },
    );
  }
  if (input.webhookSecret !== undefined && input.webhookUrl === undefined) {
    throw new UsageError('A webhook secret requires a webhook URL.', {
      hint: 'Add --webhook-url.',
    });
  }
  const content = input.content ?? contentOf(input);
  const signingOrder = input.signingOrder ?? impliedOrder(input.signers);
  return {
    templateId: input.templateId,
    signers: input.signers,
    ...(input.subject === undefined ? {} : { subject: input.subject }),
    ...(input.message === undefined ? {} : { message: input.message }),
    metadata: { ...input.metadata, [REQUEST_ID_KEY]: requestId.normalize('NFC'), [CONTENT_KEY]: content },
    ...(input.webhookUrl === undefined ? {} : { webhookUrl: input.webhookUrl }),
    ...(input.webhookSecret === undefined ? {} : { webhookSecret: input.webhookSecret }),
    ...(input.expiresInDays === undefined ? {} : { expiresInDays: input.expiresInDays }),
    ...(signingOrder === undefined ? {} : { signingOrder }),
    ...(input.send ? { sendImmediately: true } : {}),
  };
}

/** @throws UsageError for a subject or a message that an email can't have. Names and roles are checked where they are read. */
function refuseUnprintable({ subject, message }: EnvelopeInput): void {
  const problems = [
    ['subject', subject === undefined ? undefined : subjectProblem(subject)],
    ['message', textProblem(message ?? '')],
  ] as const;
  for (const [what, problem] of problems)
    if (problem !== undefined)
      throw new UsageError(`The ${what} ${problem}.`, { hint: `Change the ${what}, or leave it out.` });
}

/** Orders would have no effect in an envelope that all sign at the same time, which is the service's default. */
function impliedOrder(signers: readonly SignerInput[]): SigningOrder | undefined {
  return signers.length > 1 && signers.some(({ order }) => order !== undefined) ? 'SEQUENTIAL' : undefined;
}

/** Returns the addresses that are emailed when an envelope is sent. Later signers are emailed when it is their turn. */
export function addressesAskedFirst({
  signers,
  signingOrder = impliedOrder(signers),
}: Pick<EnvelopeInput, 'signers' | 'signingOrder'>): string[] {
  // Without an order, signers are asked as they are listed.
  const numbered = signers.map(({ email, order }, index) => ({ email, order: order ?? index + 1 }));
  const [first = []] = signersByOrder({ signers: numbered, signingOrder });
  return first.map(({ email }) => email);
}

export function newRequestId(): string {
  return randomUUID();
}
