import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Home, type LongRunning } from '../support/cli.ts';
import { canMount, withSmallDisk } from '../support/disk-faults.ts';

/* The sandbox while its disk is full, and afterwards. */
const home = new Home();
afterAll(() => home.close());

const replyShape = z.object({
  data: z.looseObject({ id: z.string(), status: z.string() }).optional(),
  error: z.object({ message: z.string() }).optional(),
});
const listShape = z.object({ meta: z.object({ pagination: z.object({ total: z.number() }) }) });

async function startSandbox(data: string, under?: string[]) {
  const words = ['sandbox', 'start', '--data', data, '--port', '0', '--no-save-profile', '--json'];
  const running = home.start(words, under ? { under } : {});
  const ready = await running.object();
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await fetch(`${String(ready.baseUrl)}/esign/envelopes${path}`, {
      method,
      headers: { authorization: `Bearer ${String(ready.apiKey)}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: reply.status, body: await reply.json() };
  };
  const one = async (method: string, path: string, body?: object) => {
    const reply = await ask(method, path, body);
    return { status: reply.status, ...replyShape.parse(reply.body) };
  };
  const countOf = async (status: string) =>
    listShape.parse((await ask('GET', `?status=${status}`)).body).meta.pagination.total;
  return { running, one, countOf };
}

const draft = { templateId: 'tmpl_nda', signers: [{ email: 'ada@example.com', name: 'Ada Lovelace' }] };

/** Writes until the disk is full. Returns a function that makes room again. */
async function fill(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'filling');
  const chunk = Buffer.alloc(1024);
  const fits = () =>
    writeFile(path, chunk, { flag: 'a' }).then(
      () => true,
      () => false,
    );
  while (await fits());
  return () => rm(path);
}

const rootOf = ({ child }: LongRunning) => `/proc/${child.pid ?? 0}/root`;

describe('a full disk', { skip: !canMount }, () => {
  it('changes nothing, is reported with its cause, and needs no restart afterwards', async () => {
    const data = home.path('small');
    await mkdir(data);
    const { running, one, countOf } = await startSandbox(data, withSmallDisk(data, 6_000));
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) ids.push((await one('POST', '', draft)).data?.id ?? '');

    const makeRoom = await fill(`${rootOf(running)}${data}`);
    let refused = 0;
    for (const id of ids) {
      const { status, error } = await one('POST', `/${id}/send`);
      if (status === 500) {
        refused += 1;
        expect(error?.message).toMatch(/: the disk is full$/);
      }
      expect((await one('GET', `/${id}`)).data?.status).toBe(status === 500 ? 'DRAFT' : 'SENT');
    }
    expect(refused).toBeGreaterThan(2);
    expect((await one('POST', '', draft)).status).toBe(500);
    expect([await countOf('DRAFT'), await countOf('SENT')]).toEqual([refused, ids.length - refused]);
    await running.says(/POST \/api\/v1\/esign\/envelopes\/\w+\/send failed: the disk is full/);
    expect((await running.says(/(.*failed: [^\n]*\n?)+/))[0].trim().split('\n')).toHaveLength(1);

    await makeRoom();
    for (const id of ids) await one('POST', `/${id}/send`);
    expect((await one('POST', '', draft)).status).toBe(201);
    expect([await countOf('DRAFT'), await countOf('SENT')]).toEqual([1, ids.length]);
  });
});

describe('a bucket whose folder is gone', () => {
  it('refuses requests that need it with the cause, changes nothing, and needs no restart, either', async () => {
    const data = home.path('bucketless');
    const { running, one, countOf } = await startSandbox(data);
    await one('POST', '', draft);
    const bucket = join(data, 'bucket');
    await rm(bucket, { recursive: true });
    await writeFile(bucket, 'in the way');
    const { status, error } = await one('POST', '', draft);
    expect([status, error?.message]).toEqual([500, expect.stringMatching(/: part .* not a folder$/)]);
    expect(await countOf('DRAFT')).toBe(1);
    await running.says(
      /POST \/api\/v1\/esign\/envelopes failed: part of the path is not a folder \(.*bucket/,
    );
    await rm(bucket);
    await mkdir(join(bucket, 'esign-sandbox'), { recursive: true });
    expect((await one('POST', '', draft)).status).toBe(201);
  });
});
