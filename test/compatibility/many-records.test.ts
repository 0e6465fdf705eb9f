import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addToRecord, readRecord } from '../../src/compatibility/record.ts';
import { recordFolder, recordPath } from '../../src/compatibility/record-path.ts';

const FACT = {
  place: 'Envelope.id',
  form: 'string',
  operation: 'getEnvelope',
  times: 1,
  responseNumber: 1,
  since: 0,
};

it('keeps the newest 20 records of services on this machine, and every other one', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'esign-records-'));
  const pathOf = (baseUrl: string) => recordPath(stateDir, { profile: undefined, baseUrl });
  const remote = pathOf('https://sign.example.com/api/v1');
  await addToRecord(remote, [FACT]);
  await utimes(remote, 1, 1);
  for (let port = 4000; port < 4030; port++) {
    const path = pathOf(`http://127.0.0.1:${port}/api/v1`);
    await addToRecord(path, [FACT]);
    await utimes(path, port, port);
  }
  expect((await readdir(recordFolder(stateDir))).length).toBe(21);
  for (const kept of [remote, pathOf('http://127.0.0.1:4010/api/v1'), pathOf('http://127.0.0.1:4029/api/v1')])
    expect(await readRecord(kept)).not.toEqual(new Map());
  const removed = await readRecord(pathOf('http://127.0.0.1:4009/api/v1'));
  expect(removed).toEqual(new Map());
  await rm(stateDir, { recursive: true });
});
