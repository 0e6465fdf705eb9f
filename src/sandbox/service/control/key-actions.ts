import type * as z from 'zod';
import type { KeyRecord } from '../../model.ts';
import { notFound } from '../base/errors.ts';
import { isoTime, type SandboxClock } from '../base/sandbox-clock.ts';
import type { bodies } from '../base/validation.ts';
import type { ResetLock } from '../engine/reset-lock.ts';
import { makeKey, type RandomId } from '../store/keys.ts';
import type { AuditRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

export interface KeyDesk {
  store: Store;
  resets: ResetLock;
  clock: SandboxClock;
  randomId: RandomId;
}

/** Creates a key; the key itself is returned once and never stored (Authentication 6, 7). */
export async function createKey(
  desk: KeyDesk,
  wish: z.output<typeof bodies.createKey>,
): Promise<{ key: string; record: KeyRecord }> {
  const { name, description = '', scopes, orgId = desk.store.state.orgId, expiresAt } = wish;
  const until = expiresAt == null ? null : isoTime(Date.parse(expiresAt));
  const facts = { orgId, name, description, scopes: [...new Set(scopes)], expiresAt: until };
  const made = makeKey(facts, desk.clock.now(), desk.randomId);
  await desk.store.commit([
    { kind: 'key', value: made.record },
    { kind: 'audit', value: audit(desk, 'key.created', made.record) },
  ]);
  return made;
}

/** Revokes a key at once and for good (Authentication 8). NOT_FOUND for an unknown one. */
export async function revokeKey(desk: KeyDesk, id: string): Promise<KeyRecord> {
  await desk.resets.shared();
  const key = desk.store.state.keys.get(id);
  if (!key) throw notFound('Key');
  const value = { ...key, revokedAt: key.revokedAt ?? isoTime(desk.clock.now()) };
  await desk.store.commit([
    { kind: 'key', value },
    { kind: 'audit', value: audit(desk, 'key.revoked', key) },
  ]);
  return value;
}

function audit(desk: KeyDesk, action: AuditRecord['action'], key: KeyRecord): AuditRecord {
  const { id: keyId, orgId } = key;
  const at = isoTime(desk.clock.now());
  return { id: `aud_${desk.randomId(10)}`, at, orgId, keyId, action, method: null, path: null, status: null };
}
