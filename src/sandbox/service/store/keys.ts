import { hash } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../kernel/clock.ts';
import { ifExists } from '../../../kernel/files/regular-file.ts';
import { SCOPES, type Scope } from '../../../kernel/vocabulary.ts';
import type { KeyRecord } from '../../model.ts';
import { ApiError } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { StoreState } from './state.ts';
import type { Store } from './store.ts';

/** Returns random bytes as letters and digits; with counted IDs, the next number of the kind. */
export type RandomId = (bytes: number, kind?: string) => string;

interface KeyFacts extends Pick<KeyRecord, 'orgId' | 'name' | 'description'> {
  scopes: readonly Scope[];
  /** When it expires; null or undefined for never. */
  expiresAt?: string | null | undefined;
}

/** Creates a key and its record. The record contains the key's hash and first 8 characters. */
export function makeKey(
  facts: KeyFacts,
  now: number,
  randomId: RandomId,
  key = `esk_${randomId(20)}`,
): { key: string; record: KeyRecord } {
  const record: KeyRecord = {
    id: `key_${randomId(10, 'key')}`,
    ...facts,
    scopes: [...new Set(facts.scopes)],
    expiresAt: facts.expiresAt == null ? null : isoTime(Date.parse(facts.expiresAt)),
    prefix: key.slice(0, 8),
    hash: hashKey(key),
    createdAt: isoTime(now),
    lastUsedAt: null,
    revokedAt: null,
  };
  return { key, record };
}

/** Returns the key of an `Authorization: Bearer` header (Authentication 1). Throws UNAUTHORIZED. */
export function authenticate(header: string | undefined, state: StoreState, now: number): KeyRecord {
  const token = /^bearer +([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
  if (token === undefined)
    throw new ApiError('UNAUTHORIZED', 'Missing API key: send Authorization: Bearer <key>');
  const key = state.keyByHash(hashKey(token));
  if (!key) throw new ApiError('UNAUTHORIZED', 'Invalid API key');
  if (key.revokedAt !== null) throw new ApiError('UNAUTHORIZED', 'The API key has been revoked');
  if (key.expiresAt !== null && Date.parse(key.expiresAt) <= now)
    throw new ApiError('UNAUTHORIZED', 'The API key has expired; create a new one');
  return key;
}

/** Throws FORBIDDEN if the key lacks the permission (Authentication 3 and 4). */
export function requireScope(key: KeyRecord, scope: Scope): void {
  if (!key.scopes.includes(scope)) throw new ApiError('FORBIDDEN', `The API key lacks the ${scope} scope`);
}

/**
 * Returns the full key of the default organization, from the 0600 file `api-key` in the data folder. Creates a key if the file is missing,
 * its key was revoked, or `wanted` is another key. Also creates the organization if it is missing.
 */
export async function openDefaultKey(
  { store, clock, randomId }: { store: Store; clock: Pick<Clock, 'now'>; randomId: RandomId },
  dataDir: string,
  wanted: string | undefined,
): Promise<string> {
  const path = join(dataDir, 'api-key');
  const kept = (await ifExists(readFile(path, 'utf8'))) ?? '';
  const usable = wanted ?? kept.trim();
  const known = store.state.keyByHash(hashKey(usable));
  if (known && known.revokedAt === null) return usable;
  const orgId = store.state.orgId === '' ? `org_${randomId(10, 'org')}` : store.state.orgId;
  const facts: KeyFacts = {
    orgId,
    name: 'Sandbox',
    description: 'Made by the sandbox itself',
    scopes: SCOPES,
  };
  const { key, record } = makeKey(facts, clock.now(), randomId, wanted);
  store.commit([
    { kind: 'org', value: orgId },
    { kind: 'key', value: record },
  ]);
  await writeFile(path, `${key}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
  return key;
}

/** Returns the SHA-256 of a key in hex. The sandbox stores only this hash. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}
