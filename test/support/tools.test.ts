import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { skippedLine } from './closing-line.ts';
import { needs, toolPath } from './tools.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-tools-'));
  vi.stubEnv('PATH', `/nonexistent:${folder}`);
  vi.stubEnv('ESIGN_ALL_TOOLS', '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

describe.skipIf(process.platform === 'win32')('a test that needs a program', () => {
  it('runs where PATH has it, and is skipped where it has not', async () => {
    expect(needs('openssl')).toEqual({ skip: true, meta: { lacks: ['openssl'] } });
    await writeFile(join(folder, 'openssl'), '');
    expect(needs('openssl').skip).toBe(true);
    await chmod(join(folder, 'openssl'), 0o755);
    expect(needs('openssl')).toEqual({ skip: false, meta: {} });
    expect(toolPath('openssl')).toBe(join(folder, 'openssl'));
  });

  it('names each package once', () => {
    expect(needs('pdftotext', 'pdfinfo', 'curl').meta.lacks).toEqual(['poppler-utils', 'curl']);
  });

  it('fails where all programs have been installed, but for those that cannot be had everywhere', () => {
    vi.stubEnv('ESIGN_ALL_TOOLS', 'true');
    expect(() => needs('curl')).toThrow('Not installed: curl.');
    expect(needs('radosgw').skip).toBe(true);
  });
});

describe('the last line of a run', () => {
  it('says what would let the skipped tests run', () => {
    expect(skippedLine(0, [])).toBe('');
    expect(skippedLine(1, ['jq'])).toBe('Skipped without jq: 1 test. To run it: apt-get install jq\n');
    expect(skippedLine(61, ['openssl', 'chromium'])).toBe(
      'Skipped without chromium, openssl: 61 tests. To run them: apt-get install chromium openssl\n',
    );
  });
});
