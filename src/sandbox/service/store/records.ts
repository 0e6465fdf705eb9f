import { isRecord } from '../../../kernel/json.ts';
import type { DeliveryRecord, EnvelopeRecord, KeyRecord, MailRecord, TemplateRecord } from '../../model.ts';
import type { ClockRecord } from '../base/sandbox-clock.ts';

/** An entry of an organization's audit log (Authentication 9). The log is kept only while the sandbox runs. */
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
}

/** A change of the sandbox's state, and a line of its file. A record replaces its earlier version. */
export type StoreChange =
  | { kind: 'org'; value: string }
  | ({ kind: 'clock' } & ClockRecord)
  | { kind: 'template'; value: TemplateRecord }
  | { kind: 'envelope'; value: EnvelopeRecord }
  | { kind: 'key'; value: KeyRecord }
  | { kind: 'mail'; value: MailRecord }
  | { kind: 'delivery'; value: DeliveryRecord }
  | { kind: 'reset'; value: null };

const RECORDS: ReadonlySet<unknown> = new Set(['template', 'envelope', 'key', 'mail', 'delivery']);

/** Returns true if a line was written by a sandbox. Checking every field of 100,000 envelopes would take longer than reading them. */
export function isStoreChange(change: unknown): change is StoreChange & Record<string, unknown> {
  if (!isRecord(change)) return false;
  const { kind, value } = change;
  if (RECORDS.has(kind)) return isRecord(value) && typeof value.id === 'string';
  if (kind === 'clock') return typeof value === 'number';
  return (kind === 'org' && typeof value === 'string') || (kind === 'reset' && value === null);
}
