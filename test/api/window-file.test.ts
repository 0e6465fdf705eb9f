import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RateState, WindowFile } from '../../src/api/rate/window-file.ts';
import { eventually } from '../support/eventually.ts';
import { isPrivate } from '../support/private.ts';

const URL_HERE = 'https://api.example.com/api/v1';
const KEY = 'sk_live_0123456789';
const standing: RateState = {
  window: { kind: 'until', resetAt: 5_000 },
  limit: 100,
  resetAt: 5_000,
  foreign: 3,
  writtenAt: 1_000,
};

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'esign-window-'));
  folder = join(parent, 'state', 'rate');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

/** The counter of another process. It knows only what is in the folder. */
const other = (baseUrl = URL_HERE, key = KEY) => new WindowFile(folder, baseUrl, key);
const counts = () => readdirSync(folder).filter((name) => name.endsWith('.count'));

describe('a counter in files', () => {
  it('counts the requests of all processes with one key at one service', () => {
    const [first, second] = [other(), other()];
    expect(first.count('a')).toBe(0);
    expect([first.add('a'), second.add('a'), first.add('a')]).toEqual([1, 2, 3]);
    expect([first.count('a'), second.count('a'), other().count('a')]).toEqual([3, 3, 3]);
  });

  it('counts each window, key, and service separately', () => {
    other().add('a');
    other().add('a');
    expect(other().add('b')).toBe(1);
    expect(other(URL_HERE, 'sk_live_other').add('a')).toBe(1);
    expect(other('https://else.example.com').add('a')).toBe(1);
    const counter = other();
    expect([counter.count('a'), counter.count('b'), counter.count('a')]).toEqual([2, 1, 2]);
  });

  it('shares the reported rate with other processes', async () => {
    const late = other();
    expect(late.read()).toBeUndefined();
    other().write(standing);
    expect(other().read()).toEqual(standing);
    expect(other(URL_HERE, 'sk_live_other').read()).toBeUndefined();
    // A recent reading can be reused: the file isn't read for each of a thousand requests.
    await eventually(() => expect(late.read()).toEqual(standing));
    const open = { ...standing, resetAt: undefined };
    other().write(open);
    await eventually(() => expect(late.read()).toEqual(open));
  });

  it('uses its own report immediately', () => {
    const counter = other();
    counter.read();
    counter.write(standing);
    expect(counter.read()).toEqual(standing);
  });

  it.each([
    '',
    '{"window":',
    '{"window":"x"}',
    '[]',
    '{"window":7,"limit":1,"foreign":0}',
    '{"window":"until-5000","limit":100,"resetAt":5000,"foreign":3}',
  ])('continues with its own count when the file contains %j', async (text) => {
    const [counter, fresh] = [other(), other()];
    counter.write(standing);
    const file = readdirSync(folder).find((name) => name.endsWith('.json')) ?? '';
    writeFileSync(join(folder, file), text);
    expect(fresh.read()).toBeUndefined();
    expect(counter.read()).toEqual(standing);
  });

  it('is readable only by its user and reveals no key', () => {
    const counter = other();
    counter.add('until-5000');
    counter.write(standing);
    const open = ['.', ...readdirSync(folder)].filter((name) => !isPrivate(join(folder, name)));
    expect(open).toEqual([]);
    expect(readdirSync(folder).join()).not.toMatch(/sk_live|0123456789|example/);
  });

  it('creates its folder with the same permissions when it writes before it counts', () => {
    other().write(standing);
    expect(isPrivate(folder)).toBe(true);
  });

  it('deletes the files of earlier windows and nothing else', () => {
    const stranger = other(URL_HERE, 'sk_live_other');
    stranger.add('until-1000');
    const counter = other();
    counter.add('until-1000');
    counter.add('until-5000');
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    mkdirSync(join(folder, 'mine.count'));
    expect(counts()).toHaveLength(4);
    counter.write(standing);
    expect([other().count('until-5000'), stranger.count('until-1000')]).toEqual([1, 1]);
    expect(counts()).toHaveLength(3);
    expect(existsSync(join(folder, 'notes.txt'))).toBe(true);
    // Only the two counters, the rate, and the files that existed before.
    expect(readdirSync(folder)).toHaveLength(5);
  });

  it('continues counting in a window whose rate changes', () => {
    const counter = other();
    counter.add('until-5000');
    counter.write(standing);
    counter.write({ ...standing, foreign: 9 });
    expect(counter.add('until-5000')).toBe(2);
    expect(other().count('until-5000')).toBe(2);
  });
});

describe('a long-lived counter', () => {
  it.runIf(process.platform === 'linux')('keeps one file open', () => {
    const counter = other();
    for (let i = 0; i < 50; i++) counter.add(`until-${i % 10}`);
    const open = readdirSync('/proc/self/fd').filter((fd) => {
      const link = join('/proc/self/fd', fd);
      // The process that lists the files has closed its own by now.
      return existsSync(link) && readlinkSync(link).startsWith(folder);
    });
    expect(open).toHaveLength(1);
  });
});

describe('a counter without a usable folder', () => {
  it('counts and remembers in memory', () => {
    writeFileSync(join(parent, 'state'), 'a file where the folder should be');
    const counter = other();
    expect(counter.count('a')).toBe(0);
    expect([counter.add('a'), counter.add('a'), counter.add('b')]).toEqual([1, 2, 1]);
    expect([counter.count('a'), counter.count('b'), counter.count('c')]).toEqual([2, 1, 0]);
    counter.write(standing);
    expect(counter.read()).toEqual(standing);
    expect(other().count('a')).toBe(0);
  });

  it.skipIf(!existsSync('/dev/full'))('continues in memory when the disk is full', () => {
    other().add('until-5000');
    const [file = ''] = counts();
    symlinkSync('/dev/full', join(folder, file.replace('until-5000', 'until-9000')));
    const counter = other();
    expect([counter.add('until-9000'), counter.add('until-9000')]).toEqual([1, 2]);
    expect(counter.count('until-9000')).toBe(2);
    expect(counter.add('until-5000')).toBe(2);
  });
});
