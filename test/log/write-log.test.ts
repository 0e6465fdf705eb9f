import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { JournalError, UsageError } from '../../src/kernel/errors.ts';
import type { LogRecord } from '../../src/log/entry.ts';
import { readLog, verifyLog } from '../../src/log/read-log.ts';
import { WriteLog } from '../../src/log/write-log.ts';
import { fakeClock } from '../support/clock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-log-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function begin(id: string, at = '2026-11-01T10:00:00.000Z'): LogRecord {
  const who = {
    user: 'ada',
    profile: null,
    baseUrl: 'https://api.example.com/api/v1',
    command: 'envelopes send',
  };
  return {
    type: 'begin',
    id,
    at,
    ...who,
    effect: 'mails',
    action: 'send',
    envelopeIds: [`env_${id}`],
    requestId: null,
  };
}
const end = (id: string): LogRecord => ({ type: 'end', id, outcome: 'done', error: null });

async function written(ids: readonly string[], rotateBytes = 1_000_000): Promise<WriteLog> {
  const log = new WriteLog(folder, fakeClock(), { rotateBytes });
  for (const id of ids) {
    await log.append(begin(id));
    await log.append(end(id));
  }
  return log;
}

async function linesOf(name = 'log-000001.jsonl'): Promise<string[]> {
  return (await readFile(join(folder, name), 'utf8')).split('\n').slice(0, -1);
}
const put = (lines: readonly string[], name = 'log-000001.jsonl') =>
  writeFile(join(folder, name), lines.map((line) => `${line}\n`).join(''));

describe('the log', () => {
  it('is private, and keeps entries in writing order if the clock jumps', async () => {
    const log = await written([]);
    await log.append(begin('a', '2026-11-01T10:00:00.000Z'));
    await log.append(begin('b', '2020-01-01T00:00:00.000Z'));
    await log.append(end('a'));
    const { writes } = await readLog(folder);
    expect(writes.map(({ entry }) => [entry.id, entry.outcome])).toEqual([
      ['a', 'done'],
      ['b', 'unknown'],
    ]);
    for (const name of await readdir(folder))
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('keeps its chain across files and writers', async () => {
    const writers = [1, 2, 3].map(() => new WriteLog(folder, systemClock, { rotateBytes: 2_000 }));
    await Promise.all(
      writers.flatMap((log, number) =>
        Array.from({ length: 12 }, (_, i) => log.append(begin(`${number}-${i}`))),
      ),
    );
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl')).length).toBeGreaterThan(2);
    expect(await verifyLog(folder)).toMatchObject({ entries: 36, break: undefined });
    expect((await readLog(folder)).writes).toHaveLength(36);
  });

  it('continues after a line that was truncated by a crash', async () => {
    await written(['a']);
    await appendFile(join(folder, 'log-000001.jsonl'), '{"type":"begin","id":"torn"');
    expect(await verifyLog(folder)).toMatchObject({ break: undefined });
    await written(['b']);
    expect(await verifyLog(folder)).toMatchObject({ entries: 2, break: undefined });
  });

  it.each(['', '{"journal":"esign-l'])('continues after a new file was left with only "%s"', async (torn) => {
    await written(['a', 'b']);
    await writeFile(join(folder, 'log-000002.jsonl'), torn);
    expect(await verifyLog(folder)).toMatchObject({ entries: 2, break: undefined });
    await written(['c']);
    expect(await verifyLog(folder)).toMatchObject({ files: 2, entries: 3, break: undefined });
  });

  it('keeps no file whose header could not be written', async () => {
    await written(['a']);
    // The head can't be replaced while this folder has the name of its temporary file.
    const obstacle = join(folder, `head.json.${process.pid}.tmp`);
    await mkdir(obstacle);
    await expect(written(['b'], 1)).rejects.toThrow(JournalError);
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl'))).toEqual(['log-000001.jsonl']);
    await rmdir(obstacle);
    await written(['c'], 1);
    expect(await verifyLog(folder)).toMatchObject({ entries: 2, break: undefined });
  });

  it('continues after a crash before the head was stored', async () => {
    await written(['a']);
    const head = await readFile(join(folder, 'head.json'));
    await written(['b']);
    await writeFile(join(folder, 'head.json'), head);
    expect(await verifyLog(folder)).toMatchObject({ entries: 2, break: undefined });
    await written(['c']);
    expect(await verifyLog(folder)).toMatchObject({ entries: 3, break: undefined });
  });
});

describe('verification', () => {
  beforeEach(() => written(['a', 'b', 'c', 'd']));

  it('reports an entry that was changed', async () => {
    const lines = await linesOf();
    await put(lines.map((line) => line.replace('env_b', 'env_x')));
    expect((await verifyLog(folder)).break).toMatchObject({ id: 'b', reason: 'changed', line: 4 });
  });

  it('reports the entries around removed or moved lines', async () => {
    const [header = '', ...rest] = await linesOf();
    await put([header, ...rest.slice(0, 2), ...rest.slice(4)]);
    expect((await verifyLog(folder)).break).toMatchObject({ id: 'c', after: 'a', reason: 'not chained' });
    await put([header, ...rest.slice(2), ...rest.slice(0, 2)]);
    expect((await verifyLog(folder)).break).toMatchObject({ id: 'b', reason: 'not chained' });
  });

  it.each([
    ['its last lines', async () => put((await linesOf()).slice(0, -2))],
    ['its last file', () => rm(join(folder, 'log-000001.jsonl'))],
    ['the stored head', () => rm(join(folder, 'head.json'))],
  ])('detects that %s was removed, even after more entries', async (what, remove) => {
    await remove();
    expect((await verifyLog(folder)).break).toBeDefined();
    if (what === 'the stored head') return;
    await written(['e', 'f']);
    expect((await verifyLog(folder)).break).toMatchObject({ reason: 'not chained' });
  });

  it('detects a missing file', async () => {
    await rm(folder, { recursive: true });
    await written(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], 1_000);
    expect(await verifyLog(folder)).toMatchObject({ break: undefined });
    await rm(join(folder, 'log-000002.jsonl'));
    expect((await verifyLog(folder)).break).toMatchObject({
      file: 'log-000003.jsonl',
      reason: 'missing file',
    });
  });
});

it.each([
  ['reading', readLog],
  ['verifying', verifyLog],
])('reports a folder that cannot be read when %s the log', async (_, read) => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  await expect(read(file)).rejects.toThrow(UsageError);
});
