import type {
  DeliveryRecord,
  EnvelopeRecord,
  KeyRecord,
  MailRecord,
  OrganisationRecord,
  TemplateRecord,
} from '../../model.ts';
import { DueQueue } from '../base/due-queue.ts';
import { FINALIZING_MS, isActive, isFinalizing, lastSignedAt } from '../engine/predicates.ts';
import type { AuditRecord, StoreChange } from './records.ts';

/** The maximum number of audit entries. The oldest are dropped first. */
const MAX_AUDIT_ENTRIES = 10_000;

/** The number of envelopes and of their signers. */
interface Created {
  envelopes: number;
  signers: number;
}

/** The filter and range for a page of envelopes. */
export interface StoredPage {
  /** The status. An unknown one matches no envelope. */
  status?: string | undefined;
  start: number;
  count: number;
  from: 'newest' | 'oldest';
}

/** The service's whole state, in memory. Changed only by `apply`, which is idempotent. Records are never changed in place. */
export class StoreState {
  orgId = '';
  clockOffsetMs = 0;
  readonly templates = new Map<string, TemplateRecord>();
  readonly envelopes = new Map<string, EnvelopeRecord>();
  /** The organizations that were given a name. */
  readonly organisations = new Map<string, OrganisationRecord>();
  readonly keys = new Map<string, KeyRecord>();
  readonly mails = new Map<string, MailRecord>();
  readonly deliveries = new Map<string, DeliveryRecord>();
  /** Active envelopes by expiresAt. May contain envelopes that have ended in the meantime. */
  readonly expiries = new DueQueue();
  /** Envelopes that everyone has signed and that wait for their documents, by the time at which they will be COMPLETED. */
  readonly finalizations = new DueQueue();
  readonly audit = new Map<string, AuditRecord>();
  readonly #keyIdByHash = new Map<string, string>();
  /** Envelopes by organization and status, oldest first. Sorted when they are requested, and cached until the next change. */
  readonly #lists = new Map<string, readonly EnvelopeRecord[]>();
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

  /** Yields the changes that rebuild the whole state. */
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

  /** Returns a template that is visible to an organization. An uploaded one is visible only to its owner. */
  template(id: string, orgId: string): TemplateRecord | undefined {
    const template = this.templates.get(id);
    return template !== undefined && isSeenBy(template, orgId) ? template : undefined;
  }

  /** Returns the templates of an organization in order of creation. */
  templatesOf(orgId: string): TemplateRecord[] {
    return [...this.templates.values()].filter((one) => isSeenBy(one, orgId));
  }

  /** Returns true if an envelope was created from the template. */
  isUsed(templateId: string): boolean {
    return this.#usedTemplates.has(templateId);
  }

  keyByHash(hash: string): KeyRecord | undefined {
    const id = this.#keyIdByHash.get(hash);
    return id === undefined ? undefined : this.keys.get(id);
  }

  /** Returns the envelopes of an organization, newest first. */
  envelopesOf(orgId: string): EnvelopeRecord[] {
    return this.#listOf(orgId).toReversed();
  }

  /** Returns a page of an organization's envelopes by createdAt, and the total number. */
  envelopePage(
    orgId: string,
    { status, start, count, from }: StoredPage,
  ): { items: EnvelopeRecord[]; total: number } {
    const list = this.#listOf(orgId, status);
    const total = list.length;
    if (from === 'oldest') return { items: list.slice(start, start + count), total };
    const end = Math.max(0, total - start);
    return { items: list.slice(Math.max(0, end - count), end).reverse(), total };
  }

  #listOf(orgId: string, status?: string): readonly EnvelopeRecord[] {
    const key = `${orgId} ${status ?? ''}`;
    const known = this.#lists.get(key);
    if (known) return known;
    const list = [...this.envelopes.values()]
      .filter((one) => one.orgId === orgId && (status === undefined || one.status === status))
      .sort((a, b) => Number(a.createdAt > b.createdAt) - Number(a.createdAt < b.createdAt));
    this.#lists.set(key, list);
    return list;
  }

  /** Returns the number of envelopes and signers that an organization created in a month such as `2026-03`. */
  createdIn(orgId: string, month: string): Created {
    return this.#createdByMonth.get(`${orgId} ${month}`) ?? { envelopes: 0, signers: 0 };
  }

  #putEnvelope(envelope: EnvelopeRecord): void {
    const before = this.envelopes.get(envelope.id);
    this.envelopes.set(envelope.id, envelope);
    this.#usedTemplates.add(envelope.templateId);
    if (isActive(envelope) && !(before && isActive(before)))
      this.expiries.push(Date.parse(envelope.expiresAt), envelope.id);
    if (isFinalizing(envelope) && !(before && isFinalizing(before)))
      this.finalizations.push(lastSignedAt(envelope) + FINALIZING_MS, envelope.id);
    this.#lists.clear();
    if (before) return;
    const month = `${envelope.orgId} ${envelope.createdAt.slice(0, 7)}`;
    const { envelopes, signers } = this.#createdByMonth.get(month) ?? { envelopes: 0, signers: 0 };
    this.#createdByMonth.set(month, {
      envelopes: envelopes + 1,
      signers: signers + envelope.signers.length,
    });
  }

  /** Adds an audit entry. A key's last use is the time of its latest request (Authentication 7). */
  #putAudit(entry: AuditRecord): void {
    this.audit.set(entry.id, entry);
    if (this.audit.size >= 2 * MAX_AUDIT_ENTRIES) {
      const latest = [...this.audit].slice(-MAX_AUDIT_ENTRIES);
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
    this.finalizations.clear();
  }
}

function isSeenBy({ upload }: TemplateRecord, orgId: string): boolean {
  return upload === undefined || upload.orgId === null || upload.orgId === orgId;
}
