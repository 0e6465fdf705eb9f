import { createHash } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../kernel/errors.ts';
import { SCOPES, type Scope } from '../../../kernel/vocabulary.ts';
import type { KeyRecord } from '../../model.ts';
import { ApiError } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { State } from './state.ts';
import type { Store } from './store.ts';

/** Bytes from a random source as text of letters and digits. */
export type RandomId = (bytes: number) => string;

export interface KeyFacts {
  orgId: string;
  name: string;
  description: string;
  scopes: Scope[];
  expiresAt: string | null;
}

/** A new key and its record: the text is shown once, the record keeps its hash and first 8 characters. */
export function makeKey(
  facts: KeyFacts,
  now: number,
  randomId: RandomId,
): { key: string; record: KeyRecord } {
  const key = `esk_${randomId(20)}`;
  const record: KeyRecord = {
    id: `key_${randomId(10)}`,
    ...facts,
    prefix: key.slice(0, 8),
    hash: hashOf(key),
    createdAt: isoTime(now),
    lastUsedAt: null,
    revokedAt: null,
  };
  return { key, record };
}

/** The key of an `Authorization: Bearer` header (Authentication 1). Throws UNAUTHORIZED. */
export function authenticate(header: string | undefined, state: State, now: number): KeyRecord {
  const token = /^bearer +([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
  if (token === undefined)
    throw new ApiError('UNAUTHORIZED', 'Missing API key: send Authorization: Bearer <key>');
  const key = state.keyByHash(hashOf(token));
  if (!key) throw new ApiError('UNAUTHORIZED', 'Invalid API key');
  if (key.revokedAt !== null) throw new ApiError('UNAUTHORIZED', 'The API key has been revoked');
  if (key.expiresAt !== null && Date.parse(key.expiresAt) <= now)
    throw new ApiError('UNAUTHORIZED', 'The API key has expired; create a new one');
  return key;
}

/** Throws FORBIDDEN when the key lacks the permission (Authentication 3 and 4). */
export function requireScope(key: KeyRecord, scope: Scope): void {
  if (!key.scopes.includes(scope))
    throw new ApiError('FORBIDDEN', `The API key lacks the permission ${scope}`);
}

/**
 * The full key of the default organisation, from the 0600 file `api-key` in the data folder. Made anew, organisation
 * included where there is none, when the file is missing or its key is no longer good.
 */
export async function openDefaultKey(
  store: Store,
  dataDir: string,
  now: number,
  randomId: RandomId,
): Promise<string> {
  const path = join(dataDir, 'api-key');
  const kept = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  const known = store.state.keyByHash(hashOf(kept.trim()));
  if (known && known.revokedAt === null) return kept.trim();
  const orgId = store.state.orgId === '' ? `org_${randomId(10)}` : store.state.orgId;
  const facts: KeyFacts = {
    orgId,
    name: 'Sandbox',
    description: 'Made by the sandbox itself',
    scopes: [...SCOPES],
    expiresAt: null,
  };
  const { key, record } = makeKey(facts, now, randomId);
  await store.commit([
    { kind: 'org', value: orgId },
    { kind: 'key', value: record },
  ]);
  await writeFile(path, `${key}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
  return key;
}

/** Hex SHA-256: all the sandbox keeps of a key. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
