import { randomUUID } from 'node:crypto';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { type FakeService, fakeService } from './fake-service.ts';
import { json, type SeenRequest } from './server.ts';

interface Stored {
  id: string;
  status: string;
  [field: string]: unknown;
}

/** A service that processes requests immediately and holds back matching responses until they are released. */
export interface SlowService extends FakeService {
  envelopes: Map<string, Stored>;
  /** Holds back the responses to requests such as `POST /esign/envelopes`; a pattern of method and path. */
  hold(pattern: RegExp): void;
  /** Resolves when this many held requests have arrived. */
  arrived(count?: number): Promise<void>;
  /** Sends the held responses, and holds back no more. */
  answer(): void;
}

const STATUS_AFTER: Readonly<Record<string, string>> = { send: 'SENT', cancel: 'CANCELLED' };

export async function slowService(): Promise<SlowService> {
  const envelopes = new Map<string, Stored>();
  let held: (() => void)[] = [];
  let pattern: RegExp | undefined;
  const waiting: (() => void)[] = [];

  function create(body: string): Stored {
    const wanted = parseJson(body);
    const fields = isRecord(wanted) ? wanted : {};
    const status = fields.sendImmediately ? 'SENT' : 'DRAFT';
    const made = { ...fields, id: `env_${randomUUID().slice(0, 8)}`, status };
    envelopes.set(made.id, made);
    return made;
  }

  function act(id: string, action: string): [number, unknown] {
    const found = envelopes.get(id);
    if (!found) return [404, { error: { code: 'NOT_FOUND', message: 'not found' } }];
    if (action === 'send' && found.status !== 'DRAFT')
      return [400, { error: { code: 'INVALID_STATE', message: 'no draft' } }];
    found.status = STATUS_AFTER[action] ?? found.status;
    return [200, { data: { ...found } }];
  }

  /** The immediate effect of a request, and its response. */
  function work({ method, path, body }: SeenRequest): [number, unknown] {
    const [, kind, id, action = ''] = /esign\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? [];
    if (kind === 'templates') return [200, { data: { id, name: 'Undertaking', fields: [] } }];
    if (id !== undefined) return act(id, action);
    if (method === 'POST') return [201, { data: create(body) }];
    return [200, { data: [...envelopes.values()], meta: { pagination: { totalPages: 1 } } }];
  }

  const service = await fakeService((request, response) => {
    const done = work(request);
    const answer = () => json(response, ...done);
    if (!pattern?.test(`${request.method} ${request.path.replace('/api/v1', '')}`)) return answer();
    held.push(answer);
    for (const wake of waiting) wake();
  });
  const answerAll = () => {
    pattern = undefined;
    for (const answer of held) answer();
    held = [];
  };
  return {
    ...service,
    envelopes,
    hold(wanted) {
      answerAll();
      pattern = wanted;
    },
    async arrived(count = 1) {
      while (held.length < count)
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
    },
    answer: answerAll,
  };
}
