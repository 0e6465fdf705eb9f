import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOnPath } from '../../../src/kernel/process/on-path.ts';

const folder = mkdtempSync(join(tmpdir(), 'esign-path-'));
beforeAll(() => {
  writeFileSync(join(folder, 'tool'), '#!/bin/sh\n');
  chmodSync(join(folder, 'tool'), 0o755);
  writeFileSync(join(folder, 'notes'), '');
  chmodSync(join(folder, 'notes'), 0o644);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(process.platform === 'win32')('a program on the PATH', () => {
  const env = { PATH: ['/nowhere', folder].join(delimiter) };

  it('must be executable', () => {
    expect([isOnPath('tool', env), isOnPath('notes', env), isOnPath('other', env)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(isOnPath('tool', {})).toBe(false);
  });
});
