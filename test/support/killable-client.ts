import type { Client } from '../../src/api/client.ts';
import type { HttpRequest, SendRequest } from '../../src/api/http.ts';
import { createResources } from '../../src/api/resources.ts';
import { withRetries } from '../../src/api/retries.ts';
import { ServiceClock } from '../../src/api/service-clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { NetworkError, ServiceError } from '../../src/kernel/errors.ts';
import { isRecord } from '../../src/kernel/json.ts';
import type { WriteMemory } from '../../src/log/write-memory.ts';
import type { FaultyService } from './faulty-service.ts';
import { gateFor } from './recording.ts';

/** The outcome of one request. */
export type RequestFate = 'whole' | 'lost' | 'refused' | 'killed' | { status: number };

const NO_RATE = { limit: undefined, remaining: undefined, resetAt: undefined, retryAfterMs: undefined };

/** A client of one process, in memory, so that campaigns are fast. `fate` decides on each request; `clock` is that machine's. */
export function killableClient(
  service: FaultyService,
  clock: Clock,
  fate: (request: HttpRequest) => RequestFate | Promise<RequestFate>,
  memory: WriteMemory,
): Client {
  const { baseUrl } = service;
  const serviceClock = new ServiceClock(clock, () => clock.now());
  const exchange: SendRequest = async (request) => {
    await Promise.resolve();
    request.signal?.throwIfAborted();
    await request.beforeAttempt?.();
    request.onSend?.();
    const what = await fate(request);
    if (what === 'killed') throw new Error('killed');
    if (what === 'refused') throw serviceError(503);
    const { method, path, body } = request;
    const reply = await service.answer({ method, path, body, query: new URLSearchParams(request.query) });
    if (reply === undefined) throw new Error('the service loses no response itself');
    serviceClock.update(reply.headers);
    if (what === 'lost') throw new NetworkError('NETWORK', 'the reply was lost', { maybeReceived: true });
    if (what !== 'whole') throw serviceError(what.status);
    if (reply.status >= 400) throw serviceError(reply.status, codeIn(reply.body));
    return { status: reply.status, body: reply.body, rate: NO_RATE };
  };
  const send = withRetries(exchange, { clock, random: () => 0.5, retries: 3, maxWaitMs: 60_000 });
  const gate = gateFor(memory, baseUrl, clock, () => serviceClock.now())(send, 'account');
  const sendGated: SendRequest = (request) => (request.method === 'GET' ? send(request) : gate.pass(request));
  return {
    baseUrl,
    account: 'account',
    timeoutMs: 30_000,
    ...createResources(sendGated),
    send: sendGated,
    writes: () => Promise.resolve(gate),
    checkWrites: gate.check,
    clock,
    serviceClock,
    graceMs: 0,
    window: undefined,
  };
}

function serviceError(status: number, code = 'UNAVAILABLE'): ServiceError {
  return new ServiceError(code, code, { status });
}

function codeIn(body: unknown): string {
  return isRecord(body) && isRecord(body.error) ? String(body.error.code) : '';
}
