import type { Client } from '../../../src/api/client.ts';
import type { EnvelopesApi } from '../../../src/api/resources.ts';
import type { Envelope } from '../../../src/api/schemas.ts';
import { newRequestId } from '../../../src/envelopes/create.ts';
import { carryOut, type ReplaceEvent } from '../../../src/envelopes/replace/carry-out.ts';
import { planReplacement, type ReplaceRequest } from '../../../src/envelopes/replace/plan.ts';
import type { ReplaceProgressRecord, ReplaceRecord } from '../../../src/envelopes/replace/progress-record.ts';
import { type RequestIds, requestIdsInMemory } from '../../../src/envelopes/request-ids/request-ids.ts';
import { ServiceError } from '../../../src/kernel/errors.ts';
import { clientFor } from '../../support/client.ts';

const NOW = '2026-01-02T03:00:00Z';

/** An envelope with a wrong subject, which has been sent. */
export const wrong: Envelope = {
  id: 'env_old',
  templateId: 'tmpl_1',
  subject: 'Laese',
  status: 'SENT',
  createdAt: '2026-01-01T00:00:00Z',
  sentAt: '2026-01-01T00:00:00Z',
  signers: [{ id: 's_1', email: 'ada@example.com', name: 'Ada', status: 'PENDING' }],
};
/** Its replacement, as a draft. */
export const draft: Envelope = {
  ...wrong,
  id: 'env_new',
  subject: 'Lease',
  status: 'DRAFT',
  createdAt: NOW,
  sentAt: null,
  metadata: { replaces: 'env_old' },
};
export const wish: ReplaceRequest = {
  id: 'env_old',
  changes: { subject: 'Lease' },
  draft: false,
  evenIfSigned: false,
  reason: 'wrong subject',
};

export const refusedByState = (id: string) =>
  new ServiceError('INVALID_STATE', `not possible for ${id}`, { status: 400 });

/** A service in memory that follows the documented status changes, with some of its methods replaced. */
export function memoryService(given: readonly Envelope[], more: Partial<EnvelopesApi> = {}) {
  const stored = new Map(given.map((one) => [one.id, one]));
  const calls: string[] = [];
  const find = (id: string): Envelope => {
    const found = stored.get(id);
    if (found === undefined) throw new ServiceError('NOT_FOUND', `no ${id}`, { status: 404 });
    return found;
  };
  const change = (call: string, id: string, from: readonly string[], to: Partial<Envelope>) => {
    calls.push(call);
    const envelope = find(id);
    if (!from.includes(envelope.status ?? '')) throw refusedByState(id);
    stored.set(id, { ...envelope, ...to });
    return find(id);
  };
  const base = clientFor('http://127.0.0.1:1');
  const all = () => [...stored.values()].reverse();
  const envelopes: EnvelopesApi = {
    ...base.envelopes,
    get: async (id) => find(id),
    async *list() {
      yield* all();
    },
    page: async () => ({ items: all(), totalPages: 1 }),
    async *recent(since) {
      for (const one of all()) if (!(Date.parse(one.createdAt ?? '') < since())) yield one;
    },
    async create({ sendImmediately: _, ...body }) {
      calls.push('create');
      const made: Envelope = { ...body, id: 'env_new', status: 'DRAFT', createdAt: NOW };
      stored.set(made.id, made);
      return made;
    },
    cancel: async (id, reason) =>
      change(`cancel ${id}: ${reason}`, id, ['DRAFT', 'SENT', 'IN_PROGRESS', 'DECLINED'], {
        status: 'CANCELLED',
      }),
    send: async (id) => change(`send ${id}`, id, ['DRAFT'], { status: 'SENT', sentAt: NOW }),
    ...more,
  };
  const client: Client = { ...base, envelopes };
  return { client, calls, stored, find };
}

/** A record in memory. */
export function memoryRecord(known: ReplaceProgressRecord = {}) {
  const entries: unknown[] = [];
  const memory: ReplaceRecord = {
    known,
    asked: async (requestId) => void entries.push({ type: 'asked', requestId }),
    note: async (entry) => void entries.push(entry),
    close: async () => undefined,
  };
  return { memory, entries };
}

/** Request IDs that nothing else uses. */
export function memoryIds(client: Client): RequestIds {
  return requestIdsInMemory({ ...client, account: newRequestId() });
}

/** Plans the replacement, lets something happen, and carries it out. */
export async function replaceIn(
  { client }: Pick<ReturnType<typeof memoryService>, 'client'>,
  request: Partial<ReplaceRequest> = {},
  {
    known = {},
    meanwhile,
    signal,
  }: { known?: ReplaceProgressRecord; meanwhile?: () => unknown; signal?: AbortSignal } = {},
) {
  const whole = { ...wish, ...request };
  const plan = await planReplacement(client, whole, known);
  meanwhile?.();
  const { memory, entries } = memoryRecord(known);
  const requestId = known.requestId ?? newRequestId();
  const ids = memoryIds(client);
  const doing = carryOut(plan, whole, { client, memory, requestId, ids, signal });
  const events: ReplaceEvent[] = [];
  for (;;) {
    const next = await doing.next();
    if (next.done) return { ...next.value, plan, events, entries };
    events.push(next.value);
  }
}
