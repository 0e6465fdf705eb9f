import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/kernel/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'esign-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('replaceFile', () => {
  it('replaces the text, for its owner alone, and makes the folder', () => {
    const path = join(folder, 'new', 'file');
    replaceFile(path, 'one');
    replaceFile(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(readdirSync(join(folder, 'new'))).toEqual(['file']);
    expect([statSync(path).mode & 0o777, statSync(join(folder, 'new')).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it('leaves nothing beside a file that it could not replace', () => {
    mkdirSync(join(folder, 'file', 'inside'), { recursive: true });
    expect(() => replaceFile(join(folder, 'file'), 'one')).toThrow();
    expect(readdirSync(folder)).toEqual(['file']);
  });
});
