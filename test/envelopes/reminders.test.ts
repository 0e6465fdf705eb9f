import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openReminderLog, remindWithGap } from '../../src/envelopes/reminders.ts';
import { NetworkError, RemindedRecentlyError, ServiceError } from '../../src/kernel/errors.ts';
import { clientFor } from '../support/client.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { json, loseReply, startServer, type TestServer } from '../support/server.ts';

const HOUR = 3_600_000;
const ACCOUNT = 'https://x.example/v1';
let root: string;
let folder: string;
let count = 0;
let server: TestServer;
let clock: FakeClock;
let emailed: (string | null)[];
let answer: 'ok' | 'lost' | 'refused';
let signingOrder: 'PARALLEL' | 'SEQUENTIAL';
/** How far the service's clock is ahead of the local one, in ms. */
let ahead: number;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'esign-reminders-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  folder = join(root, `${count++}`);
  clock = fakeClock();
  [emailed, answer, ahead, signingOrder] = [[], 'ok', 0, 'PARALLEL'];
  const signer = (id: string, status: string, order: number) => ({
    id,
    email: `${id}@example.com`,
    status,
    order,
  });
  const envelope = () => ({
    id: 'env_1',
    status: 'SENT',
    signingOrder,
    signers: [signer('ada', 'SENT', 2), signer('bo', 'VIEWED', 3), signer('cy', 'SIGNED', 1)],
  });
  server = await startServer((request, response) => {
    response.setHeader('date', new Date(clock.now() + ahead).toUTCString());
    if (request.method === 'GET') return json(response, 200, { data: envelope() });
    if (answer === 'refused') return json(response, 400, { error: { code: 'INVALID_STATE', message: 'no' } });
    emailed.push(/"signerId":"(\w+)"/.exec(request.body)?.[1] ?? null);
    if (answer === 'lost') return loseReply(response);
    json(response, 200, { data: envelope() });
  });
});
afterEach(() => server.close());

/** Reminds like one run of the command: with the log opened and closed. */
async function remind(gapMs: number, signer?: string) {
  const client = clientFor(server.origin, { clock, retries: 0 });
  const log = await openReminderLog(folder, ACCOUNT, clock, () => client.serviceClock.now());
  try {
    return await remindWithGap(client, log, { id: 'env_1', signer, gapMs });
  } finally {
    await log.close();
  }
}

describe('a reminder with a gap', () => {
  it('emails all pending signers, and nobody again within the gap', async () => {
    await remind(24 * HOUR);
    expect(emailed).toEqual([null]);
    clock.time += 23 * HOUR;
    await expect(remind(24 * HOUR)).rejects.toThrow(RemindedRecentlyError);
    await expect(remind(24 * HOUR, 'bo@example.com')).rejects.toThrow('bo@example.com (23 hours ago)');
    expect(emailed).toEqual([null]);
    clock.time += 2 * HOUR;
    await remind(24 * HOUR);
    expect(emailed).toEqual([null, null]);
  });

  // A Date header has no milliseconds: the service's clock is known to within a second.
  it.each([
    [-3 * HOUR, 0],
    [-3 * HOUR, 999],
    [3 * HOUR, 0],
    [3 * HOUR, 999],
  ])("is measured by the service's clock: %i ms ahead, from millisecond %i", async (off, ms) => {
    clock.time += ms;
    ahead = off;
    // The first response has the time when the reminder is already recorded.
    await remind(0);
    const again = await remind(2 * HOUR).catch((error: unknown) => String(error));
    expect(again).toContain('Already reminded');
    // The user corrects the local clock.
    [clock.time, ahead] = [clock.time + off + HOUR, 0];
    await expect(remind(2 * HOUR)).rejects.toThrow(RemindedRecentlyError);
    clock.time += HOUR + 1_000;
    await remind(2 * HOUR);
    expect(emailed).toEqual([null, null]);
  });

  it('emails only those who were not reminded before', async () => {
    const names = async (gapMs: number, signer?: string) =>
      (await remind(gapMs, signer)).signers.map(({ id }) => id);
    expect(await names(0, 'ADA@example.com')).toEqual(['ada']);
    expect(await names(HOUR)).toEqual(['bo']);
    expect(emailed).toEqual(['ada', 'bo']);
    await expect(remind(HOUR)).rejects.toThrow(
      'ada@example.com (0 seconds ago), bo@example.com (0 seconds ago)',
    );
  });

  it('emails nobody again whose turn comes later, because the service reminds all who have not signed', async () => {
    signingOrder = 'SEQUENTIAL';
    await remind(0, 'bo@example.com');
    await remind(HOUR);
    expect(emailed).toEqual(['bo', 'ada']);
    clock.time += 2 * HOUR;
    await remind(HOUR);
    expect(emailed).toEqual(['bo', 'ada', null]);
  });

  it('also counts reminders without a gap, but not other envelopes and accounts', async () => {
    await remind(0);
    const log = await openReminderLog(folder, ACCOUNT, clock, clock.now);
    expect(log.lastOf('env_1', 'ada@example.com')?.at).toBe(clock.time);
    expect(log.lastOf('env_2', 'ada@example.com')).toBeUndefined();
    await log.close();
    const other = await openReminderLog(folder, 'https://y.example/v1', clock, clock.now);
    expect(other.lastOf('env_1', 'ada@example.com')).toBeUndefined();
    await other.close();
    await expect(remind(HOUR)).rejects.toThrow(RemindedRecentlyError);
  });

  it('counts a lost response as emailed, and a refusal as not emailed', async () => {
    answer = 'refused';
    await expect(remind(HOUR)).rejects.toThrow(ServiceError);
    answer = 'lost';
    await expect(remind(HOUR)).rejects.toThrow('may or may not');
    answer = 'ok';
    await expect(remind(HOUR)).rejects.toThrow(RemindedRecentlyError);
    expect(emailed).toEqual([null]);
  });

  it('keeps the time of the last email when a later try is refused', async () => {
    await remind(0);
    const { time } = clock;
    clock.time += HOUR;
    answer = 'refused';
    await expect(remind(0)).rejects.toThrow(ServiceError);
    const log = await openReminderLog(folder, ACCOUNT, clock, clock.now);
    expect(log.lastOf('env_1', 'ada@example.com')?.at).toBe(time);
    await log.close();
  });

  it("is recorded under the signer's address if the signer is named by ID, and nobody else counts as reminded", async () => {
    await remind(0, 'ada');
    await remind(HOUR);
    expect(emailed).toEqual(['ada', 'bo']);
    await expect(remind(HOUR, 'ada')).rejects.toThrow(RemindedRecentlyError);
    const log = await openReminderLog(folder, ACCOUNT, clock, clock.now);
    expect(log.lastOf('env_1', 'ADA@example.com')?.signer).toBe('ada@example.com');
    await log.close();
  });

  it('is not sent within the gap if a damaged line may have been a reminder', async () => {
    await remind(0);
    const path = join(folder, 'reminders.jsonl');
    const [header = '', , ...rest] = (await readFile(path, 'utf8')).split('\n');
    clock.time += HOUR;
    // An entry of another account, so that only the damaged line can be about this envelope.
    const other = await openReminderLog(folder, 'https://y.example/v1', clock, clock.now);
    await other.noting('env_9', undefined, () => Promise.resolve());
    await other.close();
    const last = (await readFile(path, 'utf8')).split('\n').slice(2);
    expect(rest).toEqual(['']);
    await writeFile(path, [header, 'damaged', ...last].join('\n'));
    await expect(remind(24 * HOUR)).rejects.toMatchObject({
      code: 'REMINDED_RECENTLY',
      message: expect.stringContaining('damaged') as unknown,
    });
    expect(emailed).toEqual([null]);
    clock.time += 24 * HOUR;
    await remind(24 * HOUR);
    expect(emailed).toEqual([null, null]);
  });

  it('reports addresses that are not signers, and survives a damaged line', async () => {
    await expect(remind(HOUR, 'eve@example.com')).rejects.toThrow('eve@example.com is not a signer');
    await remind(HOUR);
    const path = join(folder, 'reminders.jsonl');
    const text = await readFile(path, 'utf8');
    const [header = '', ...lines] = text.split('\n');
    await writeFile(path, [header, 'damaged', ...lines].join('\n'));
    await expect(remind(HOUR)).rejects.toThrow(RemindedRecentlyError);
  });

  it('is not counted if it was certainly never sent', async () => {
    const client = clientFor('http://127.0.0.1:9', { clock, retries: 0 });
    const log = await openReminderLog(folder, ACCOUNT, clock, clock.now);
    await expect(remindWithGap(client, log, { id: 'env_1', gapMs: 0 })).rejects.toThrow(NetworkError);
    expect(log.lastOf('env_1', 'ada@example.com')).toBeUndefined();
    await log.close();
  });
});
