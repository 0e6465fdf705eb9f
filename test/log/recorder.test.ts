import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logFolder } from '../../src/log/log-folder.ts';
import { readLog } from '../../src/log/read-log.ts';
import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { gateFor, memoryOf } from '../support/recording.ts';
import { json, startServer, type TestServer } from '../support/server.ts';

let service: TestServer;
let machine: string;
let answer: (response: ServerResponse) => void;
beforeEach(async () => {
  service = await startServer((_, response) => answer(response));
  machine = await mkdtemp(join(tmpdir(), 'esign-recorder-'));
});
afterEach(async () => {
  await service.close();
  await rm(machine, { recursive: true });
});

/** A client of this machine. */
function connect(apiKey = 'sk_test_0123456789') {
  const clock = fakeClock();
  const gate = async () => gateFor(memoryOf(machine, clock), `${service.origin}/api/v1`, clock);
  return clientFor(service.origin, { clock, gate, apiKey });
}
const entries = () => readLog(logFolder(machine));
const BODY = { templateId: 'tmpl_nda', signers: [{ email: 'a@b.cd', name: 'A' }] };

describe('an entry of the log', () => {
  it('names the account, which is another one for another key at the same address', async () => {
    answer = (response) => json(response, 201, { data: { id: 'env_1' } });
    const [one, other] = [connect('sk_one_0123456789'), connect('sk_other_0123456789')];
    await one.envelopes.create(BODY);
    await one.envelopes.create(BODY);
    await other.envelopes.create(BODY);
    const accounts = (await entries()).map(({ intent }) => intent.account);
    expect(accounts).toEqual([one.account, one.account, other.account]);
    expect(one.account).not.toBe(other.account);
    expect(accounts.join()).not.toMatch(/sk_|0123456789/);
  });
});
