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

/** One line of an organisation's audit log (Authentication 9). */
export interface AuditRecord {
  id: string;
  at: string;
  /** Null when the key was not one of the service's. */
  orgId: string | null;
  keyId: string | null;
  action: 'key.created' | 'key.revoked' | 'api.request' | 'api.rate_limited';
  method: string | null;
  /** Without the query. */
  path: string | null;
  status: number | null;
  /** The query without `?`. Absent in records of versions before 0.3 and without a request. */
  query?: string;
  /** Absent like `query`. */
  durationMs?: number;
}

/** One change of the sandbox's state: what the journal keeps and replays. A record replaces its earlier self. */
export type StoreChange =
  | { kind: 'org'; value: string }
  | { kind: 'clock'; value: number }
  | { kind: 'organisation'; value: OrganisationRecord }
  | { kind: 'template'; value: TemplateRecord }
  | { kind: 'envelope'; value: EnvelopeRecord }
  | { kind: 'key'; value: KeyRecord }
  | { kind: 'mail'; value: MailRecord }
  | { kind: 'delivery'; value: DeliveryRecord }
  | { kind: 'audit'; value: AuditRecord }
  | { kind: 'reset'; value: null };

/** One entry of the journal: changes that happen together or not at all. */
export interface StoreEntry {
  changes: StoreChange[];
}

/**
 * The journal of the service. A line of this version whose checksum is right is one that the service wrote: only its frame
 * is looked at, since checking every field of 100,000 envelopes takes longer than reading them.
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
