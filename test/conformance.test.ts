import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '..');

function check(folder: string): Promise<{ code: number; stderr: string }> {
  const args = [join(root, 'scripts', 'conformance.js'), '--check', folder];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, _stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stderr });
    });
  });
}

/** A copy of what the check reads. */
async function copyOfTables(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'esign-conformance-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const filter = (path: string) => !path.split(sep).includes('node_modules');
  await cp(join(root, 'test'), join(folder, 'test'), { recursive: true, filter });
  await cp(join(root, 'docs', 'conformance.md'), join(folder, 'docs', 'conformance.md'));
  return folder;
}

async function change(path: string, from: string, to: string): Promise<void> {
  const before = await readFile(path, 'utf8');
  expect(before).toContain(from);
  await writeFile(path, before.replace(from, to));
}

describe('docs/conformance.md', () => {
  it('is up to date, and every test it names exists', async () => {
    expect(await check(root)).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    [
      'a renamed test of the sandbox',
      'test/sandbox/service/access.test.ts',
      'An expired key is',
      'no such test',
    ],
    ['a renamed test of the client', 'test/e2e/errors.test.ts', 'an unknown id: 4', 'no such test'],
    ['a row the document does not have', 'test/client-conformance.md', '| Only when a', 'no such row'],
    ['a changed row', 'test/sandbox/README.md', '| Retries are not shown', 'out of date'],
    ['an edited page', 'docs/conformance.md', '## Events', 'out of date'],
  ])('is refused after %s', async (_, file, from, says) => {
    const folder = await copyOfTables();
    await change(join(folder, file), from, `${from}x`);
    const { code, stderr } = await check(folder);
    expect(code).toBe(1);
    expect(stderr).toContain(says);
  });
});
