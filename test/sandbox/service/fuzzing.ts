import { connect } from 'node:net';
import { Pool } from 'undici';
import { expect } from 'vitest';
import * as z from 'zod';
import { SCOPES, SERVICE_ERROR_CODES } from '../../../src/kernel/vocabulary.ts';
import { Dice, damagedBytes, type HostileRequest, hostileRequest } from './hostile-requests.ts';
import { envelopeShape, listIn, MemoryObjects, type Rig, startRig } from './rig.ts';

/** Concurrent requests. */
const AT_ONCE = 16;
/** The share of requests whose HTTP itself may be damaged. */
const DAMAGED = 0.05;

const errorReply = z.strictObject({
  error: z.strictObject({
    code: z.enum(SERVICE_ERROR_CODES),
    message: z.string().min(1),
    details: z.record(z.string(), z.array(z.string().min(1)).min(1)).optional(),
  }),
});
const CODE_STATUS: Record<string, number[]> = {
  UNAUTHORIZED: [401],
  FORBIDDEN: [403],
  NOT_FOUND: [404, 405],
  VALIDATION_ERROR: [400, 413],
  INVALID_STATE: [400],
};
/** A stack trace or a local path in a response would reveal internals. */
const INSIDE = /\n {4}at |node:internal|\/src\/sandbox\/|correct horse battery staple/;

/**
 * Attacks a separate service with `count` requests from `seed`. Every response must be the API's, none may be a 500, and
 * afterward the service has the envelopes that it reported as created, even after a restart.
 */
export async function fuzz(
  count: number,
  seed: number,
): Promise<{ created: number; statuses: Map<number, number> }> {
  const dice = new Dice(seed);
  const ids = new Dice(seed + 1);
  const rig = await startRig({
    rateLimit: { requests: 1_000_000_000, seconds: 900 },
    randomId: (bytes) => ids.hex(bytes),
    objects: new ForgetfulObjects(),
  });
  const reader = await rig.makeKey({ scopes: ['esign:read'] });
  const { key: otherOrgKey } = await rig.makeKey({ scopes: [...SCOPES], orgId: 'org_other' });
  const otherKeys = [reader.key, otherOrgKey];
  let damaged = 0;
  const made = [(await rig.create({ sendImmediately: true })).id];
  const statuses = new Map<number, number>();
  const pool = new Pool(rig.service.origin, { connections: AT_ONCE, pipelining: 1 });
  try {
    for (let left = count; left > 0; left -= AT_ONCE) {
      const target = { apiKey: rig.service.apiKey, otherKeys, envelopeIds: made.slice(-50) };
      const batch = Array.from({ length: Math.min(AT_ONCE, left) }, () => {
        const request = hostileRequest(dice, target);
        if (!dice.chance(DAMAGED)) return sendWhole(pool, request);
        damaged += 1;
        return sendDamaged(rig, damagedBytes(dice, request));
      });
      for (const { status, createdIds } of await Promise.all(batch)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        made.push(...createdIds);
      }
    }
  } finally {
    await pool.destroy();
  }
  const keys = [rig.service.apiKey, otherOrgKey];
  const known = await envelopesOf(rig, keys);
  expect(made.filter((id) => !known.has(id))).toEqual([]);
  // A damaged request may have been processed although its response was lost.
  expect(known.size - made.length).toBeLessThanOrEqual(damaged);
  await rig.service.close();
  const again = await startRig({ dataDir: rig.dataDir, objects: rig.objects });
  expect(await envelopesOf(again, keys)).toEqual(known);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  return { created: made.length, statuses };
}

/** Stores nothing, so memory stays flat over many envelopes. */
class ForgetfulObjects extends MemoryObjects {
  override put(): Promise<void> {
    return Promise.resolve();
  }
}

interface Outcome {
  status: number;
  createdIds: string[];
}

async function sendWhole(pool: Pool, { method, path, headers, body }: HostileRequest): Promise<Outcome> {
  const reply = await pool.request({
    // undici knows the methods of HTTP by name; all of these are among them.
    method: z.enum(['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).parse(method),
    path,
    headers,
    ...(body ? { body } : {}),
  });
  const text = await reply.body.text();
  const facts = `${method} ${path.slice(0, 200)} ${body?.toString().slice(0, 300) ?? ''} gave ${reply.statusCode} ${text.slice(0, 300)}`;
  if (text === '') {
    expect(method === 'HEAD', facts).toBe(true);
    return { status: reply.statusCode, createdIds: [] };
  }
  const createdIds = checkReply(reply.statusCode, String(reply.headers['content-type']), text, facts);
  return { status: reply.statusCode, createdIds };
}

/** The IDs of the envelopes that the response reports as created. */
function checkReply(status: number, type: string, text: string, facts: string): string[] {
  expect(text, facts).not.toMatch(INSIDE);
  if (!type.startsWith('application/json')) {
    expect(type, facts).toMatch(/^(text\/html|application\/yaml)/);
    // The pages refuse a form that is too large or from another site with a page.
    expect([200, 400, 403, 404, 411, 413], facts).toContain(status);
    return [];
  }
  const body: unknown = JSON.parse(text);
  if (status !== 200 && status !== 201) {
    const { code } = errorReply.parse(body, { error: () => facts }).error;
    expect(CODE_STATUS[code], facts).toContain(status);
    return [];
  }
  const created = z.object({ data: envelopeShape }).safeParse(body);
  if (status === 201) expect(created.success, facts).toBe(true);
  return status === 201 && created.success ? [created.data.data.id] : [];
}

/** Writes the bytes, closes its side, and reads the result: nothing, or HTTP responses without a 500. */
function sendDamaged(rig: Rig, bytes: Buffer): Promise<Outcome> {
  const { hostname, port } = new URL(rig.service.origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    let text = '';
    socket.setTimeout(20_000, () => {
      socket.destroy();
      reject(new Error(`no end after ${JSON.stringify(bytes.toString('latin1').slice(0, 500))}`));
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const facts = `${JSON.stringify(bytes.toString('latin1').slice(0, 500))} gave ${text.slice(0, 300)}`;
      try {
        resolve(checkDamaged(text, facts));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(facts));
      }
    });
  });
}

function checkDamaged(text: string, facts: string): Outcome {
  expect(text, facts).toMatch(/^(HTTP\/1\.1 [1-4]\d\d |$)/);
  expect(text, facts).not.toMatch(/^HTTP\/1\.1 5/m);
  expect(text, facts).not.toMatch(INSIDE);
  const createdIds = [...text.matchAll(/^HTTP\/1\.1 201 [\s\S]*?\{"data":\{"id":"(env_\w+)"/gm)].map(
    ([, id]) => id ?? '',
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), createdIds };
}

/** The IDs of all envelopes that the keys can read, each in the documented shape. */
async function envelopesOf(rig: Rig, keys: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const key of keys) {
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const path = `/esign/envelopes?pageSize=100&page=${page}`;
      const { data, meta } = listIn(await rig.api('GET', path, undefined, key));
      pages = meta.pagination.totalPages;
      for (const one of data) found.add(envelopeShape.parse(one).id);
    }
  }
  return found;
}
