import { afterEach, describe, expect, it } from 'vitest';
import { guardedGate } from '../../src/guards/gate.ts';
import { combineGuards } from '../../src/guards/guards.ts';
import type { LogRecord } from '../../src/log/entry.ts';
import { clientFor } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer | undefined;
afterEach(() => server?.close());

describe('the entry of a write that is stopped', () => {
  it.each<[string, 'begin' | 'request', string, number]>([
    ['before it was sent', 'begin', 'refused', 0],
    ['after it was sent', 'request', 'unknown', 1],
  ])('%s', async (_, stopAt, outcome, requests) => {
    const stop = new AbortController();
    server = await startServer((_request, response) => {
      stop.abort();
      response.destroy();
    });
    const records: LogRecord[] = [];
    const gate = guardedGate({
      guards: combineGuards(undefined, { state: 'none' }),
      confirmation: { names: ['acme'], given: undefined, ask: undefined },
      signal: new AbortController().signal,
      log: {
        append: (record) => {
          if (record.type === stopAt) stop.abort();
          records.push(record);
          return Promise.resolve();
        },
      },
      facts: { user: 'ada', profile: null, baseUrl: server.origin, command: 'envelopes remind' },
      clock: { now: () => 0 },
      onIncomplete: () => undefined,
    });
    const client = clientFor(server.origin, { gate: () => Promise.resolve(gate) });
    await expect(client.envelopes.remind('env_1', undefined, stop.signal)).rejects.toThrow();
    expect(records.map((record) => [record.type, record.outcome])).toEqual([
      ['begin', undefined],
      ['end', outcome],
    ]);
    expect(server.seen).toHaveLength(requests);
  });
});

describe('a write without an entry', () => {
  it('is not sent', async () => {
    server = await startServer((_request, response) => void response.writeHead(204).end());
    const full = new Error('full');
    const gate = guardedGate({
      guards: combineGuards(undefined, { state: 'none' }),
      confirmation: { names: ['acme'], given: undefined, ask: undefined },
      signal: new AbortController().signal,
      log: {
        append: async () => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          throw full;
        },
      },
      facts: { user: 'ada', profile: null, baseUrl: server.origin, command: 'envelopes remind' },
      clock: { now: () => 0 },
      onIncomplete: () => undefined,
    });
    const client = clientFor(server.origin, { gate: () => Promise.resolve(gate) });
    await expect(client.envelopes.remind('env_1')).rejects.toBe(full);
    expect(server.seen).toEqual([]);
  });
});
