import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { claimFirstIntent, type KeyedIntent } from '../../src/log/claim.ts';
import { LogFolder } from '../../src/log/log-folder.ts';
import { mayHaveCreated } from '../../src/log/logged-write.ts';
import { readLog } from '../../src/log/read-log.ts';
import type { LogRecord } from '../../src/log/stored-records.ts';
import { createKey } from '../../src/log/write-keys.ts';
import { ProcessMemory, type WriteMemory } from '../../src/log/write-memory.ts';
import { newFolder } from '../support/folder.ts';

const URL = 'https://api.example.com/api/v1';
const NOVEMBER = Date.parse('2026-11-30T23:59:59.990Z');

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

function intent(key: string, at = NOVEMBER): KeyedIntent {
  return {
    type: 'intent',
    id: randomUUID(),
    at: new Date(at).toISOString(),
    until: new Date(at + 30_000).toISOString(),
    serviceAt: new Date(at).toISOString(),
    key,
    content: 'content',
    action: 'create',
    effect: 'mails',
    envelopeIds: [],
    requestId: null,
    user: 'ada',
    profile: null,
    baseUrl: URL,
    account: 'account',
    command: 'envelopes create',
  };
}

function done({ id, key }: KeyedIntent, envelopeId: string): LogRecord {
  const at = new Date(NOVEMBER).toISOString();
  return { type: 'done', id, at, serviceAt: at, key, envelopeIds: [envelopeId] };
}

/** A process that does a write once: it looks, claims, sends, and waits for the process that was first. Returns the number it sent. */
async function sendOnce(memory: WriteMemory, key: string, now: () => number): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const writes = await memory.find([key]);
    const first = writes.find(mayHaveCreated);
    if (first?.state === 'done') return 0;
    await turn();
    if (first !== undefined) continue;
    const mine = intent(key, now());
    if ((await claimFirstIntent(memory, mine, mayHaveCreated)) !== undefined) continue;
    await memory.append([done(mine, 'env_1')]);
    return 1;
  }
  throw new Error('it never found out');
}

describe('several processes with the same key', () => {
  it.each([
    ['in one month', () => () => NOVEMBER],
    // The clocks of the processes are apart, and the month turns for each at another time.
    ['while the month turns', (process: number) => clockFrom(NOVEMBER - 3 * process)],
  ])('send once %s', async (_, clockOf) => {
    for (let round = 0; round < 40; round++) {
      const key = createKey(URL, `order ${round}`);
      const processes = Array.from({ length: 5 }, (_, at) => {
        const now = clockOf(at);
        return sendOnce(new LogFolder(folder, { now }), key, now);
      });
      const sent = await Promise.all(processes);
      expect(sent.reduce((sum, one) => sum + one, 0)).toBe(1);
    }
  });

  it('send once in one process without a folder', async () => {
    const memory = new ProcessMemory();
    const sent = await Promise.all([1, 2, 3].map(() => sendOnce(memory, 'k', () => NOVEMBER)));
    expect(sent.toSorted()).toEqual([0, 0, 1]);
  });
});

/** A clock that advances by a millisecond whenever it is read. */
function clockFrom(start: number): () => number {
  let now = start;
  return () => now++;
}

describe('a folder', () => {
  const november = { now: () => NOVEMBER };

  it('finds a write by its key among others, in the order of the intents, with its outcome', async () => {
    const log = new LogFolder(folder, november);
    const [one, other] = [intent('a'.repeat(24)), intent('b'.repeat(24))];
    await log.append([one, other, done(one, 'env_9')]);
    const writes = await new LogFolder(folder, november).find([one.key]);
    expect(writes).toMatchObject([{ intent: { id: one.id }, state: 'done', envelopeIds: ['env_9'] }]);
  });

  it('moves an intent to the end when its write is attempted again', async () => {
    const log = new LogFolder(folder, november);
    const [first, second] = [intent('k'.repeat(24)), intent('k'.repeat(24))];
    await log.append([first, second, first]);
    const writes = await log.find([first.key]);
    expect(writes.map((one) => one.intent.id)).toEqual([second.id, first.id]);
  });

  it('continues after an incomplete record', async () => {
    const log = new LogFolder(folder, november);
    const [one, other] = [intent('a'.repeat(24)), intent('b'.repeat(24))];
    await log.append([one]);
    await appendFile(join(folder, '2026-11.jsonl'), '\n{"type":"intent","id":"tor');
    await log.append([other]);
    expect(await log.find([one.key, other.key])).toMatchObject([{ state: 'open' }, { state: 'open' }]);
  });

  it.each([
    ['zeros', '\0'.repeat(900)],
    ['zeros and the end of a record', '\0\0\0"key":"x"}\n'],
    ['zeros and a line break', '\0\0\n'],
    ['zeros between line breaks', '\n\0\0\n\0'],
    ['other bytes', '\u0001\ufffd'],
  ])('keeps the records around what a power failure leaves: %s', async (_, left) => {
    const log = new LogFolder(folder, november);
    const [one, other] = [intent('a'.repeat(24)), intent('b'.repeat(24))];
    await log.append([one]);
    await log.append([done(one, 'env_9')]);
    await appendFile(join(folder, '2026-11.jsonl'), left);
    await log.append([other]);
    const kept = [{ state: 'done', envelopeIds: ['env_9'] }, { state: 'open' }];
    expect(await log.find([one.key, other.key])).toMatchObject(kept);
    expect(await readLog(folder)).toMatchObject(kept);
  });

  it('reads a record between zeros', async () => {
    const log = new LogFolder(folder, november);
    const one = intent('a'.repeat(24));
    await appendFile(join(folder, '2026-11.jsonl'), `\0\0${JSON.stringify(one)}\0\0`);
    expect(await log.find([one.key])).toMatchObject([{ state: 'open' }]);
  });

  it('writes to the newest file even if the clock was set back', async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, '2030-01.jsonl'), '');
    const mine = intent('a'.repeat(24));
    await new LogFolder(folder, november).append([mine]);
    expect(await readdir(folder)).toEqual(['2030-01.jsonl']);
    expect(await readFile(join(folder, '2030-01.jsonl'), 'utf8')).toContain(mine.id);
  });

  it('sends nothing if a record cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    const log = new LogFolder(join(folder, 'file'), november);
    await expect(claimFirstIntent(log, intent('a'.repeat(24)), mayHaveCreated)).rejects.toMatchObject({
      code: 'USAGE',
    });
  });
});
