import type { ServerResponse } from 'node:http';
import { json, type SeenRequest, startServer, type TestServer } from './server.ts';

/** A service for responses that the sandbox never gives. */
export interface FakeService {
  server: TestServer;
  /** The environment that makes a command use it. */
  env: Record<string, string>;
}

type ResponseOutcome = (request: SeenRequest, response: ServerResponse, number: number) => void;

export const KEY = 'sk_canary_0123456789';

export async function fakeService(answer: ResponseOutcome): Promise<FakeService> {
  const server = await startServer(answer);
  return { server, env: { ESIGN_BASE_URL: `${server.origin}/api/v1`, ESIGN_API_KEY: KEY } };
}

/** Returns the requested page of the items. */
export function answerPage(
  request: SeenRequest,
  response: ServerResponse,
  total: number,
  item: (index: number) => unknown,
): void {
  const page = Number(request.query.get('page'));
  const pageSize = Number(request.query.get('pageSize'));
  const from = (page - 1) * pageSize;
  const data = Array.from({ length: Math.max(0, Math.min(pageSize, total - from)) }, (_, i) =>
    item(from + i),
  );
  const totalPages = Math.ceil(total / pageSize);
  json(response, 200, { data, meta: { pagination: { page, pageSize, total, totalPages } } });
}

/** A service with the envelope env_1, three times in its list, and a template. */
export function serviceOfOne(): Promise<FakeService> {
  const envelope = { id: 'env_1', status: 'SENT', createdAt: '2026-01-02T03:04:05Z' };
  return fakeService((request, response) =>
    request.path.endsWith('env_1')
      ? json(response, 200, { data: envelope })
      : request.path.endsWith('tmpl_1')
        ? json(response, 200, { data: { id: 'tmpl_1' } })
        : answerPage(request, response, 3, () => envelope),
  );
}
