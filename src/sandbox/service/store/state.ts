import type { DeliveryRecord, EnvelopeRecord, KeyRecord, MailRecord, TemplateRecord } from '../../model.ts';
import { DueQueue } from '../base/due-queue.ts';
import { FINALISING_MS, isActive, isFinalising, lastSignedAt } from '../engine/predicates.ts';
import type { AuditRecord, Change } from './records.ts';

/** Audit entries kept; the oldest go first. */
const AUDIT_KEPT = 10_000;

/** How many envelopes, and signers in them. */
interface Created {
  envelopes: number;
  signers: number;
}

/** Everything the service knows, in memory. Changed only by `apply`; records are never changed in place. */
export class State {
  orgId = '';
  clockOffsetMs = 0;
  readonly templates = new Map<string, TemplateRecord>();
  readonly envelopes = new Map<string, EnvelopeRecord>();
  readonly keys = new Map<string, KeyRecord>();
  readonly mails: MailRecord[] = [];
  readonly deliveries = new Map<string, DeliveryRecord>();
  /** Active envelopes by expiresAt; may name one that has ended meanwhile. */
  readonly expiries = new DueQueue();
  /** Envelopes signed by all that wait for their papers, by when they will be COMPLETED. */
  readonly finalisations = new DueQueue();
  #audit: AuditRecord[] = [];
  readonly #keyIdByHash = new Map<string, string>();
  readonly #envelopeIdsByOrg = new Map<string, string[]>();
  readonly #createdByMonth = new Map<string, Created>();
  readonly #usedTemplates = new Set<string>();

  apply(change: Change): void {
    switch (change.kind) {
      case 'org':
        this.orgId = change.value;
        return;
      case 'clock':
        this.clockOffsetMs = change.value;
        return;
      case 'template':
        this.templates.set(change.value.id, change.value);
        return;
      case 'envelope':
        this.#putEnvelope(change.value);
        return;
      case 'key':
        this.keys.set(change.value.id, change.value);
        this.#keyIdByHash.set(change.value.hash, change.value.id);
        return;
      case 'mail':
        this.mails.push(change.value);
        return;
      case 'delivery':
        this.deliveries.set(change.value.id, change.value);
        return;
      case 'audit':
        this.#putAudit(change.value);
        return;
      case 'reset':
        this.#clear();
    }
  }

  /** The whole state as changes that rebuild it. */
  *changes(): Iterable<Change> {
    yield { kind: 'org', value: this.orgId };
    yield { kind: 'clock', value: this.clockOffsetMs };
    for (const value of this.templates.values()) yield { kind: 'template', value };
    for (const value of this.keys.values()) yield { kind: 'key', value };
    for (const value of this.envelopes.values()) yield { kind: 'envelope', value };
    for (const value of this.mails) yield { kind: 'mail', value };
    for (const value of this.deliveries.values()) yield { kind: 'delivery', value };
    for (const value of this.#audit) yield { kind: 'audit', value };
  }

  /** A template that an organisation sees: an uploaded one is seen by its own alone. */
  template(id: string, orgId: string): TemplateRecord | undefined {
    const template = this.templates.get(id);
    return template !== undefined && isSeenBy(template, orgId) ? template : undefined;
  }

  /** In the order in which they were made. */
  templatesOf(orgId: string): TemplateRecord[] {
    return [...this.templates.values()].filter((one) => isSeenBy(one, orgId));
  }

  /** True when an envelope was made from the template. */
  isUsed(templateId: string): boolean {
    return this.#usedTemplates.has(templateId);
  }

  keyByHash(hash: string): KeyRecord | undefined {
    const id = this.#keyIdByHash.get(hash);
    return id === undefined ? undefined : this.keys.get(id);
  }

  /** The envelopes of an organisation, newest first. */
  envelopesOf(orgId: string): EnvelopeRecord[] {
    const newestFirst: EnvelopeRecord[] = [];
    for (const id of (this.#envelopeIdsByOrg.get(orgId) ?? []).toReversed()) {
      const envelope = this.envelopes.get(id);
      if (envelope) newestFirst.push(envelope);
    }
    return newestFirst;
  }

  /** What an organisation created in a month like `2026-03`. */
  createdIn(orgId: string, month: string): Created {
    return this.#createdByMonth.get(`${orgId} ${month}`) ?? { envelopes: 0, signers: 0 };
  }

  /** The audit log, oldest first. */
  get audit(): readonly AuditRecord[] {
    return this.#audit;
  }

  #putEnvelope(envelope: EnvelopeRecord): void {
    const before = this.envelopes.get(envelope.id);
    this.envelopes.set(envelope.id, envelope);
    this.#usedTemplates.add(envelope.templateId);
    if (isActive(envelope) && !(before && isActive(before)))
      this.expiries.push(Date.parse(envelope.expiresAt), envelope.id);
    if (isFinalising(envelope) && !(before && isFinalising(before)))
      this.finalisations.push(lastSignedAt(envelope) + FINALISING_MS, envelope.id);
    if (before) return;
    const ids = this.#envelopeIdsByOrg.get(envelope.orgId);
    if (ids) ids.push(envelope.id);
    else this.#envelopeIdsByOrg.set(envelope.orgId, [envelope.id]);
    const month = `${envelope.orgId} ${envelope.createdAt.slice(0, 7)}`;
    const { envelopes, signers } = this.#createdByMonth.get(month) ?? { envelopes: 0, signers: 0 };
    this.#createdByMonth.set(month, {
      envelopes: envelopes + 1,
      signers: signers + envelope.signers.length,
    });
  }

  /** Last use of a key is the time of its latest request (Authentication 7). */
  #putAudit(entry: AuditRecord): void {
    this.#audit.push(entry);
    if (this.#audit.length >= 2 * AUDIT_KEPT) this.#audit = this.#audit.slice(-AUDIT_KEPT);
    if (entry.action !== 'api.request' || entry.keyId === null) return;
    const key = this.keys.get(entry.keyId);
    if (key) this.keys.set(key.id, { ...key, lastUsedAt: entry.at });
  }

  #clear(): void {
    this.clockOffsetMs = 0;
    for (const map of [this.templates, this.envelopes, this.keys, this.deliveries]) map.clear();
    for (const map of [this.#keyIdByHash, this.#envelopeIdsByOrg, this.#createdByMonth]) map.clear();
    this.#usedTemplates.clear();
    this.mails.length = 0;
    this.#audit = [];
    this.expiries.clear();
    this.finalisations.clear();
  }
}

function isSeenBy({ upload }: TemplateRecord, orgId: string): boolean {
  return upload === undefined || upload.orgId === orgId;
}
