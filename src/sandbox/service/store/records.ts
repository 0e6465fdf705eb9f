import type { JournalFormat } from '../../../journal/scan.ts';
import { isList, isRecord } from '../../../kernel/json.ts';
import type {
  DeliveryRecord,
  EnvelopeRecord,
  KeyRecord,
  MailRecord,
  OrganisationRecord,
  TemplateRecord,
} from '../../model.ts';
import type { ClockRecord } from '../base/sandbox-clock.ts';

/** A line of an organization's audit log (Authentication 9). */
export interface AuditRecord {
  id: string;
  at: string;
  /** The organization of the key; null if the key is unknown. */
  orgId: string | null;
  keyId: string | null;
  action: 'key.created' | 'key.revoked' | 'api.request' | 'api.rate_limited';
  method: string | null;
  /** The path without the query. */
  path: string | null;
  status: number | null;
  /** The query without `?`. Absent in records from before version 0.3 and in records without a request. */
  query?: string;
  /** Absent in the same records as `query`. */
  durationMs?: number;
}

/** A change of the sandbox's state, as stored and replayed by the journal. A record replaces its earlier version. */
export type StoreChange =
  | { kind: 'org'; value: string }
  | ({ kind: 'clock' } & ClockRecord)
  | { kind: 'organisation'; value: OrganisationRecord }
  | { kind: 'template'; value: TemplateRecord }
  | { kind: 'envelope'; value: EnvelopeRecord }
  | { kind: 'key'; value: KeyRecord }
  | { kind: 'mail'; value: MailRecord }
  | { kind: 'delivery'; value: DeliveryRecord }
  | { kind: 'audit'; value: AuditRecord }
  | { kind: 'reset'; value: null };

/** An entry of the journal: changes that are applied together or not at all. */
export interface StoreEntry {
  changes: StoreChange[];
}

/**
 * The format of the service's journal. A line of this version with a valid checksum was written by the service, so only its structure is
 * checked. Checking every field of 100,000 envelopes takes longer than reading them.
 */
export const SERVICE_FORMAT: JournalFormat<StoreEntry> = {
  kind: 'sandbox',
  version: 1,
  read: (value) => (isEntry(value) ? value : undefined),
};

const RECORDS: ReadonlySet<unknown> = new Set([
  'organisation',
  'template',
  'envelope',
  'key',
  'mail',
  'delivery',
  'audit',
]);

function isEntry(value: unknown): value is StoreEntry & Record<string, unknown> {
  return isRecord(value) && isList(value.changes) && value.changes.every(isChange);
}

function isChange(change: unknown): boolean {
  if (!isRecord(change)) return false;
  const { kind, value } = change;
  if (RECORDS.has(kind)) return isRecord(value) && typeof value.id === 'string';
  if (kind === 'clock') return typeof value === 'number';
  return (kind === 'org' && typeof value === 'string') || (kind === 'reset' && value === null);
}
