import type { DeliveryRecord, EnvelopeRecord, KeyRecord, MailRecord, TemplateRecord } from '../../model.ts';
import type { ClockRecord } from '../base/sandbox-clock.ts';
import { TimeOrder } from '../base/time-order.ts';
import { FINALIZING_MS, isActive, isFinalizing, lastSignedAt } from '../engine/predicates.ts';
import type { AuditRecord, StoreChange } from './records.ts';

/** The maximum number of audit entries. The oldest are dropped first. */
const MAX_AUDIT_ENTRIES = 10_000;

/** The filter and range for a page of envelopes. */
interface StoredPage {
  /** The status. An unknown one matches no envelope. */
  status?: string | undefined;
  start: number;
  count: number;
  from: 'newest' | 'oldest';
}

/** The service's whole state, in memory. Changed only by `apply`, which is idempotent. Records are never changed in place. */
export class StoreState {
  orgId = '';
  clock: ClockRecord = { value: 0 };
  readonly templates = new Map<string, TemplateRecord>();
  readonly envelopes = new Map<string, EnvelopeRecord>();
  readonly keys = new Map<string, KeyRecord>();
  readonly mails = new Map<string, MailRecord>();
  readonly deliveries = new Map<string, DeliveryRecord>();
  /** Active envelopes by expiresAt. May contain envelopes that have ended in the meantime. */
  readonly expiries = new TimeOrder();
  /** Envelopes that everyone has signed and that wait for their documents, by the time at which they will be COMPLETED. */
  readonly finalizations = new TimeOrder();
  readonly audit = new Map<string, AuditRecord>();
  readonly #keyIdByHash = new Map<string, string>();
  /** Envelopes by organization and createdAt, from the first time they are requested. */
  readonly #created = new Map<string, TimeOrder>();
  /** Envelopes by organization and status, oldest first. Filtered when they are requested, and kept until one of them changes. */
  readonly #withStatus = new Map<string, readonly string[]>();
  readonly #createdByMonth = new Map<string, number>();

  apply(change: StoreChange): void {
    switch (change.kind) {
      case 'org':
        this.orgId = change.value;
        return;
      case 'clock':
        this.clock = { value: change.value, frozenAt: change.frozenAt };
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
      case 'reset':
        this.#clear();
    }
  }

  /** Yields the changes that rebuild the whole state. */
  *changes(): Iterable<StoreChange> {
    yield { kind: 'org', value: this.orgId };
    yield { kind: 'clock', ...this.clock };
    for (const value of this.templates.values()) yield { kind: 'template', value };
    for (const value of this.keys.values()) yield { kind: 'key', value };
    for (const value of this.envelopes.values()) yield { kind: 'envelope', value };
    for (const value of this.mails.values()) yield { kind: 'mail', value };
    for (const value of this.deliveries.values()) yield { kind: 'delivery', value };
  }

  keyByHash(hash: string): KeyRecord | undefined {
    const id = this.#keyIdByHash.get(hash);
    return id === undefined ? undefined : this.keys.get(id);
  }

  /** Returns the envelopes of an organization, newest first. */
  envelopesOf(orgId: string): EnvelopeRecord[] {
    return this.#records(this.#orderOf(orgId).slice().reverse());
  }

  /** Returns a page of an organization's envelopes by createdAt, and the total number. */
  envelopePage(
    orgId: string,
    { status, start, count, from }: StoredPage,
  ): { items: EnvelopeRecord[]; total: number } {
    const list = status === undefined ? this.#orderOf(orgId) : this.#idsOf(orgId, status);
    const total = list.length;
    if (from === 'oldest') return { items: this.#records(list.slice(start, start + count)), total };
    const end = Math.max(0, total - start);
    return { items: this.#records(list.slice(Math.max(0, end - count), end).reverse()), total };
  }

  #records(ids: readonly string[]): EnvelopeRecord[] {
    return ids.flatMap((id) => this.envelopes.get(id) ?? []);
  }

  #orderOf(orgId: string): TimeOrder {
    let order = this.#created.get(orgId);
    if (order === undefined) {
      order = new TimeOrder();
      const own = [...this.envelopes.values()].filter((one) => one.orgId === orgId);
      const byTime = own.map(({ id, createdAt }) => ({ id, at: Date.parse(createdAt) }));
      for (const { id, at } of byTime.sort((a, b) => a.at - b.at)) order.add(at, id);
      this.#created.set(orgId, order);
    }
    return order;
  }

  #idsOf(orgId: string, status: string): readonly string[] {
    const key = `${orgId} ${status}`;
    let ids = this.#withStatus.get(key);
    if (ids === undefined) {
      ids = this.#orderOf(orgId)
        .slice()
        .filter((id) => this.envelopes.get(id)?.status === status);
      this.#withStatus.set(key, ids);
    }
    return ids;
  }

  /** Returns the number of envelopes that an organization created in a month such as `2026-03`. */
  createdIn(orgId: string, month: string): number {
    return this.#createdByMonth.get(`${orgId} ${month}`) ?? 0;
  }

  #putEnvelope(envelope: EnvelopeRecord): void {
    const before = this.envelopes.get(envelope.id);
    this.envelopes.set(envelope.id, envelope);
    if (isActive(envelope) && !(before && isActive(before)))
      this.expiries.add(Date.parse(envelope.expiresAt), envelope.id);
    if (isFinalizing(envelope) && !(before && isFinalizing(before)))
      this.finalizations.add(lastSignedAt(envelope) + FINALIZING_MS, envelope.id);
    if (before?.status !== envelope.status) this.#withStatus.clear();
    this.#putInOrder(envelope, before);
    if (before) return;
    const month = `${envelope.orgId} ${envelope.createdAt.slice(0, 7)}`;
    this.#createdByMonth.set(month, (this.#createdByMonth.get(month) ?? 0) + 1);
  }

  #putInOrder({ id, orgId, createdAt }: EnvelopeRecord, before: EnvelopeRecord | undefined): void {
    if (before === undefined) this.#created.get(orgId)?.add(Date.parse(createdAt), id);
    else if (before.orgId !== orgId || before.createdAt !== createdAt) {
      // A seed has replaced the envelope.
      this.#created.clear();
      this.#withStatus.clear();
    }
  }

  /** Adds an audit entry. A key's last use is the time of its latest request (Authentication 7). */
  addAudit(entry: AuditRecord): void {
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
    this.clock = { value: 0 };
    for (const map of [this.templates, this.envelopes, this.keys, this.deliveries]) map.clear();
    for (const map of [this.mails, this.audit, this.#keyIdByHash, this.#createdByMonth]) map.clear();
    this.#created.clear();
    this.#withStatus.clear();
    this.expiries.clear();
    this.finalizations.clear();
  }
}
