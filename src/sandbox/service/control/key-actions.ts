import type * as z from 'zod';
import type { KeyRecord } from '../../model.ts';
import { notFound } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { ServiceParts } from '../base/service-parts.ts';
import type { bodySchemas } from '../base/validation.ts';
import { makeKey } from '../store/keys.ts';
import type { AuditRecord } from '../store/records.ts';

export type KeyContext = Pick<ServiceParts, 'store' | 'clock' | 'randomId'>;

/** Creates a key. The key itself is returned once and never stored (Authentication 6, 7). */
export function createKey(
  context: KeyContext,
  wanted: z.output<typeof bodySchemas.createKey>,
): { key: string; record: KeyRecord } {
  const { name, description = '', scopes, orgId = context.store.state.orgId, expiresAt } = wanted;
  const facts = { orgId, name, description, scopes, expiresAt };
  const made = makeKey(facts, context.clock.now(), context.randomId);
  context.store.commit([{ kind: 'key', value: made.record }]);
  context.store.state.addAudit(audit(context, 'key.created', made.record));
  return made;
}

/** Revokes a key immediately and permanently (Authentication 8). Throws NOT_FOUND for an unknown key. */
export function revokeKey(context: KeyContext, id: string): KeyRecord {
  const key = context.store.state.keys.get(id);
  if (!key) throw notFound('Key');
  const value = { ...key, revokedAt: key.revokedAt ?? isoTime(context.clock.now()) };
  context.store.commit([{ kind: 'key', value }]);
  context.store.state.addAudit(audit(context, 'key.revoked', key));
  return value;
}

function audit(context: KeyContext, action: AuditRecord['action'], key: KeyRecord): AuditRecord {
  const { id: keyId, orgId } = key;
  const at = isoTime(context.clock.now());
  return {
    id: `aud_${context.randomId(10, 'aud')}`,
    at,
    orgId,
    keyId,
    action,
    method: null,
    path: null,
    status: null,
  };
}
