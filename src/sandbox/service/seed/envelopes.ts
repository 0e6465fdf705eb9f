import { writtenTime } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS, parseDuration } from '../../../kernel/duration.ts';
import { DOCUMENT_KINDS, LIMITS } from '../../../kernel/vocabulary.ts';
import type { EnvelopeRecord, SignerStatus, TemplateRecord } from '../../model.ts';
import { DEFAULT_RULES } from '../base/choices.ts';
import { ApiError, invalidBody } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import { storageKey } from '../engine/document-store.ts';
import { draftEnvelope } from '../engine/draft.ts';
import { fillFields } from '../engine/fields.ts';
import * as lifecycle from '../engine/lifecycle.ts';
import { isActive } from '../engine/predicates.ts';
import { recordsOfStep } from '../engine/step-records.ts';
import type { RandomId } from '../store/keys.ts';
import type { StoreChange } from '../store/records.ts';
import type { SeedEnvelope, SeedSigner } from './schema.ts';

const LIFE_MS = LIMITS.expiresInDays * DAY_MS;

interface EnvelopeFacts {
  orgId: string;
  template: TemplateRecord;
  now: number;
  /** Returns the same IDs for the same seed, so that links and IDs stay the same after a reset. */
  randomId: RandomId;
}

/**
 * Creates an envelope in the requested status, with the emails that lead there, through the usual steps in the past.
 * No webhooks are sent.
 * @throws ApiError with the field if the status can't be reached.
 */
export function seededEnvelope(wanted: SeedEnvelope, facts: EnvelopeFacts): StoreChange[] {
  const signers = wanted.signers ?? facts.template.roles.map((role): SeedSigner => ({ name: role, role }));
  const status = wanted.status ?? statusBy(signers);
  const statuses = statusesIn(status, signers);
  const { now } = facts;
  const createdAt = timeOf(wanted.createdAt, status === 'EXPIRED' ? now - LIFE_MS - DAY_MS : now, now);
  const isOrdered = status !== 'DRAFT' && statuses.includes('PENDING');
  const draft = draftOf(wanted, signers, { ...facts, createdAt, isOrdered });
  const path = new SeedPath({ ...draft, expiresAt: isoTime(expiryOf(status, createdAt, now)) }, facts);
  if (status !== 'DRAFT') path.go('status', (envelope, at) => lifecycle.send(envelope, at));
  // Declining ends the envelope, so it comes last.
  const order = [...statuses.entries()].sort(
    ([, a], [, b]) => Number(a === 'DECLINED') - Number(b === 'DECLINED'),
  );
  for (const [index, target] of order) path.advanceSigner(index, target);
  if (status === 'CANCELLED') path.go('status', (envelope, at) => lifecycle.cancel(envelope, null, at));
  if (status === 'EXPIRED' && isActive(path.envelope)) path.go('status', lifecycle.expire);
  const envelope = { ...path.envelope };
  for (const [index, { status: reached }] of envelope.signers.entries())
    if (reached !== statuses[index])
      throw problem(
        `signers.${index}.status`,
        `Can't be ${statuses[index]} in an envelope that is ${status}; it would be ${reached}`,
      );
  // This happens if a signer has viewed it but nobody has signed.
  if (status === 'IN_PROGRESS' && envelope.status === 'SENT') envelope.status = status;
  if (envelope.status !== status)
    throw problem('status', `Can't be ${status}: with these signers it is ${envelope.status}`);
  envelope.pendingDocuments = DOCUMENT_KINDS.filter((kind) => kind === 'document' || status === 'COMPLETED');
  return [{ kind: 'envelope', value: envelope }, ...path.mails];
}

/** An envelope and its emails after the steps so far. */
class SeedPath {
  envelope: EnvelopeRecord;
  readonly mails: StoreChange[] = [];
  readonly #facts: EnvelopeFacts;
  #steps = 0;

  constructor(envelope: EnvelopeRecord, facts: EnvelopeFacts) {
    this.envelope = envelope;
    this.#facts = facts;
  }

  /** Applies the next step. @throws ApiError with the field, if it isn't possible */
  go(field: string, move: (envelope: EnvelopeRecord, at: number) => lifecycle.LifecycleStep): void {
    try {
      const step = move(this.envelope, this.#time());
      const outcome = recordsOfStep({ ...step, events: [] }, { ...this.#facts, rules: DEFAULT_RULES });
      this.mails.push(...outcome.changes.filter(({ kind }) => kind === 'mail'));
      this.envelope = step.envelope;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw problem(field, error.message);
    }
  }

  /** Applies the steps that lead a signer to the status. */
  advanceSigner(index: number, target: SignerStatus): void {
    const signer = this.envelope.signers[index];
    if (signer === undefined || target === 'PENDING' || target === 'SENT') return;
    const { id } = signer;
    const field = `signers.${index}.status`;
    if (target === 'DECLINED') {
      this.go(field, (envelope, at) => lifecycle.decline(envelope, { signerId: id, reason: null }, at));
      return;
    }
    this.go(field, (envelope, at) => lifecycle.view(envelope, id, at));
    if (target === 'VIEWED') return;
    const { template, now } = this.#facts;
    const values = fillFields(template, signer, { values: {} }, now);
    this.go(field, (envelope, at) => lifecycle.sign(envelope, { signerId: id, values }, at));
  }

  /** Returns the time of the next step. Steps are an hour apart if there is enough time. */
  #time(): number {
    const createdAt = Date.parse(this.envelope.createdAt);
    const at = createdAt + this.#steps * HOUR_MS;
    this.#steps += 1;
    return Math.max(createdAt, Math.min(this.#facts.now, at));
  }
}

function draftOf(
  wanted: SeedEnvelope,
  signers: readonly SeedSigner[],
  facts: EnvelopeFacts & { createdAt: number; isOrdered: boolean },
): EnvelopeRecord {
  const { orgId, template, randomId, createdAt, isOrdered } = facts;
  const body = {
    templateId: template.id,
    signers: signers.map(({ name, email = addressOf(name), role }, index) => ({
      name,
      email,
      order: index + 1,
      ...(role === undefined ? {} : { role }),
    })),
    signingOrder: isOrdered ? ('SEQUENTIAL' as const) : ('PARALLEL' as const),
    subject: wanted.subject,
    metadata: wanted.metadata,
  };
  const draft = draftEnvelope(orgId, template, body, createdAt, randomId);
  const { id } = wanted;
  return { ...draft, id, documentStorageKey: storageKey({ id, orgId }, 'document') };
}

function problem(field: string, text: string): ApiError {
  return invalidBody({ [field]: [text] });
}

/** Returns the status of an envelope that follows from the given statuses of its signers. */
function statusBy(signers: readonly SeedSigner[]): EnvelopeRecord['status'] {
  const given = signers.map(({ status }) => status);
  if (given.includes('DECLINED')) return 'DECLINED';
  if (given.every((status) => status === 'SIGNED')) return 'COMPLETED';
  if (given.includes('SIGNED')) return 'IN_PROGRESS';
  return given.some((status) => status === 'SENT' || status === 'VIEWED') ? 'SENT' : 'DRAFT';
}

/** Returns a status for each signer: the given one, or the usual one in an envelope with that status. */
function statusesIn(status: EnvelopeRecord['status'], signers: readonly SeedSigner[]): SignerStatus[] {
  const given = new Set(signers.map((one) => one.status));
  const first = signers.findIndex((one) => one.status === undefined);
  const others = OTHERS[status] ?? (given.has('PENDING') ? 'PENDING' : 'SENT');
  return signers.map((signer, index) => {
    if (signer.status !== undefined) return signer.status;
    return index === first ? statusOfFirst(status, given, signers.length) : others;
  });
}

/** The default status of all signers in an envelope with that status. */
const OTHERS: Partial<Record<EnvelopeRecord['status'], SignerStatus>> = {
  DRAFT: 'PENDING',
  COMPLETED: 'SIGNED',
};

/**
 * Returns the status of the first signer without one, who declines or signs if the envelope's status requires it and no other signer did.
 */
function statusOfFirst(
  status: EnvelopeRecord['status'],
  given: ReadonlySet<SignerStatus | undefined>,
  count: number,
): SignerStatus {
  if (status === 'DECLINED' && !given.has('DECLINED')) return 'DECLINED';
  if (status === 'IN_PROGRESS' && !given.has('SIGNED')) return count > 1 ? 'SIGNED' : 'VIEWED';
  return OTHERS[status] ?? 'SENT';
}

/** Returns the expiry time, in ms since the epoch. It is in the future for active envelopes, but not for expired ones. */
function expiryOf(status: EnvelopeRecord['status'], createdAt: number, now: number): number {
  const expiry = createdAt + LIFE_MS;
  if (status === 'EXPIRED') return Math.min(expiry, now);
  const isUnderWay = status === 'DRAFT' || status === 'SENT' || status === 'IN_PROGRESS';
  return isUnderWay && expiry <= now ? now + LIFE_MS : expiry;
}

function timeOf(text: string | undefined, otherwise: number, now: number): number {
  if (text === undefined) return otherwise;
  const at = writtenTime(text);
  return Number.isNaN(at) ? now - (parseDuration(text) ?? 0) : at;
}

/**
 * Returns an email address for a name. `Łukasz Řehoř` becomes lukasz.rehor@example.com; a name without Latin letters gets an address, too.
 */
function addressOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/[łŁ]/g, 'l').toLowerCase();
  const local = plain
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '.')
    .replace(/^\.|\.$/g, '');
  return `${local.slice(0, 60) || 'signer'}@example.com`;
}
