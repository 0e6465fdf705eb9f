import type {
  DeliveryRecord,
  EnvelopeRecord,
  KeyRecord,
  MailRecord,
  OrganisationRecord,
  TemplateRecord,
} from '../../model.ts';
import { DueQueue } from '../base/due-queue.ts';
import { FINALISING_MS, isActive, isFinalising, lastSignedAt } from '../engine/predicates.ts';
import { EnvelopeLists } from './envelope-lists.ts';
import type { AuditRecord, StoreChange } from './records.ts';

/** Audit entries kept; the oldest go first. */
const AUDIT_KEPT = 10_000;

/** How many envelopes, and signers in them. */
interface Created {
  envelopes: number;
  signers: number;
}

/** Which envelopes are wanted, and which of them. */
export interface StoredPage {
  /** An unknown status matches none. */
  status?: string | undefined;
  start: number;
  count: number;
  from: 'newest' | 'oldest';
}

/**
 * Everything the service knows, in memory. Changed only by `apply`, for which the same change twice is the same as once;
 * records are never changed in place.
 */
export class StoreState {
  orgId = '';
  clockOffsetMs = 0;
  readonly templates = new Map<string, TemplateRecord>();
  readonly envelopes = new Map<string, EnvelopeRecord>();
  /** Those that were given a name. */
  readonly organisations = new Map<string, OrganisationRecord>();
  readonly keys = new Map<string, KeyRecord>();
  readonly mails = new Map<string, MailRecord>();
  readonly deliveries = new Map<string, DeliveryRecord>();
  /** Active envelopes by expiresAt; may name one that has ended meanwhile. */
  readonly expiries = new DueQueue();
  /** Envelopes signed by all that wait for their documents, by when they will be COMPLETED. */
  readonly finalisations = new DueQueue();
  readonly audit = new Map<string, AuditRecord>();
  readonly #keyIdByHash = new Map<string, string>();
  readonly #lists = new EnvelopeLists();
  readonly #createdByMonth = new Map<string, Created>();
  readonly #usedTemplates = new Set<string>();

  apply(change: StoreChange): void {
    switch (change.kind) {
      case 'org':
        this.orgId = change.value;
        return;
      case 'clock':
        this.clockOffsetMs = change.value;
        return;
      case 'organisation':
        this.organisations.set(change.value.id, change.value);
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
        this.mails.set(change.value.id, change.value);
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
  *changes(): Iterable<StoreChange> {
    yield { kind: 'org', value: this.orgId };
    yield { kind: 'clock', value: this.clockOffsetMs };
    for (const value of this.organisations.values()) yield { kind: 'organisation', value };
    for (const value of this.templates.values()) yield { kind: 'template', value };
    for (const value of this.keys.values()) yield { kind: 'key', value };
    for (const value of this.envelopes.values()) yield { kind: 'envelope', value };
    for (const value of this.mails.values()) yield { kind: 'mail', value };
    for (const value of this.deliveries.values()) yield { kind: 'delivery', value };
    for (const value of this.audit.values()) yield { kind: 'audit', value };
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
    return this.envelopePage(orgId, { start: 0, count: this.envelopes.size, from: 'newest' }).items;
  }

  /** A page of an organisation's envelopes by createdAt, and how many there are in all. */
  envelopePage(
    orgId: string,
    { status, start, count, from }: StoredPage,
  ): { items: EnvelopeRecord[]; total: number } {
    const list = this.#lists.list(orgId, status);
    const items = list.slice(start, count, from).flatMap((id) => this.envelopes.get(id) ?? []);
    return { items, total: list.size };
  }

  /** What an organisation created in a month like `2026-03`. */
  createdIn(orgId: string, month: string): Created {
    return this.#createdByMonth.get(`${orgId} ${month}`) ?? { envelopes: 0, signers: 0 };
  }

  #putEnvelope(envelope: EnvelopeRecord): void {
    const before = this.envelopes.get(envelope.id);
    this.envelopes.set(envelope.id, envelope);
    this.#usedTemplates.add(envelope.templateId);
    if (isActive(envelope) && !(before && isActive(before)))
      this.expiries.push(Date.parse(envelope.expiresAt), envelope.id);
    if (isFinalising(envelope) && !(before && isFinalising(before)))
      this.finalisations.push(lastSignedAt(envelope) + FINALISING_MS, envelope.id);
    this.#lists.put(envelope, before);
    if (before) return;
    const month = `${envelope.orgId} ${envelope.createdAt.slice(0, 7)}`;
    const { envelopes, signers } = this.#createdByMonth.get(month) ?? { envelopes: 0, signers: 0 };
    this.#createdByMonth.set(month, {
      envelopes: envelopes + 1,
      signers: signers + envelope.signers.length,
    });
  }

  /** Last use of a key is the time of its latest request (Authentication 7). */
  #putAudit(entry: AuditRecord): void {
    this.audit.set(entry.id, entry);
    if (this.audit.size >= 2 * AUDIT_KEPT) {
      const latest = [...this.audit].slice(-AUDIT_KEPT);
      this.audit.clear();
      for (const [id, kept] of latest) this.audit.set(id, kept);
    }
    if (entry.action !== 'api.request' || entry.keyId === null) return;
    const key = this.keys.get(entry.keyId);
    if (key) this.keys.set(key.id, { ...key, lastUsedAt: entry.at });
  }

  #clear(): void {
    this.clockOffsetMs = 0;
    for (const map of [this.templates, this.envelopes, this.keys, this.deliveries, this.organisations])
      map.clear();
    for (const map of [this.mails, this.audit, this.#keyIdByHash, this.#createdByMonth]) map.clear();
    this.#lists.clear();
    this.#usedTemplates.clear();
    this.expiries.clear();
    this.finalisations.clear();
  }
}

function isSeenBy({ upload }: TemplateRecord, orgId: string): boolean {
  return upload === undefined || upload.orgId === null || upload.orgId === orgId;
}
