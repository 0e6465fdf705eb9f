/* @module-tag full */

import { spawn } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, Home, PACKAGE } from '../support/cli.ts';
import { needs } from '../support/tools.ts';

/* The test files of docs/testing.md, each run by its test runner. */
const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/testing.md'), 'utf8');
const block = (heading: string, language: string) => {
  const part = page.split(/^#+ /m).find((one) => one.startsWith(heading)) ?? '';
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(part)?.[1] ?? '';
};

const VITEST = block('Vitest', 'ts');
const NODE = block('node:test', 'js');
const PYTEST = block('pytest', 'python');

it.each([
  ['vitest', VITEST, /^test\(/m],
  ['node:test', NODE, /^test\(/m],
  ['pytest', PYTEST, /^def post/m],
])('needs at most six lines for the setup: %s', (_, source, end) => {
  const [setUp = ''] = source.split(end);
  const lines = setUp.split('\n').filter((line) => line.trim() !== '');
  expect(lines.length).toBeGreaterThan(2);
  // Python's imports and its command are as long as its fixture.
  expect(
    lines.filter((line) => !/^import |^START/.test(line) || source !== PYTEST).length,
  ).toBeLessThanOrEqual(6);
});

// A standalone executable has no package.
describe.skipIf(PACKAGE === undefined || process.platform === 'win32')('docs/testing.md', () => {
  const home = new Home();
  const run = async (file: string, args: readonly string[], env: Record<string, string> = {}) => {
    const path = `${home.path('bin')}:${process.env.PATH}`;
    const child = spawn(file, args, { cwd: home.path('project'), env: { ...home.env, PATH: path, ...env } });
    const [out, err] = [text(child.stdout), text(child.stderr)];
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, said: (await out) + (await err) };
  };
  beforeAll(async () => {
    // As npm would install it: a linked package would be treated as source code.
    const modules = home.path('project', 'node_modules');
    await mkdir(join(modules, 'esign-cli'), { recursive: true });
    for (const part of ['package.json', 'dist', 'contract'])
      await cp(join(PACKAGE ?? '', part), join(modules, 'esign-cli', part), { recursive: true });
    await symlink(join(root, 'node_modules/vitest'), join(modules, 'vitest'));
    await writeFile(home.path('project', 'package.json'), '{"type":"module"}');
    await mkdir(home.path('bin'));
    const line = COMMAND.map((word) => `'${word}'`).join(' ');
    await writeFile(home.path('bin', 'esign'), `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
  });

  it('works with vitest', async () => {
    await writeFile(home.path('project', 'expiry.test.ts'), VITEST);
    const { code, said } = await run(process.execPath, [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      '.',
      // A loaded machine may need more than the default of five seconds.
      '--testTimeout=60000',
    ]);
    expect(said).toContain('1 passed');
    expect(code).toBe(0);
  });

  it('works with node:test', async () => {
    await writeFile(home.path('project', 'last.test.js'), NODE);
    const { code, said } = await run(process.execPath, ['--test', 'last.test.js']);
    expect(said).toMatch(/pass 1\b/);
    expect(code).toBe(0);
  });

  it('works with pytest', needs('pytest'), async () => {
    await writeFile(home.path('project', 'test_signature.py'), PYTEST);
    const { code, said } = await run('pytest', ['-q', '-p', 'no:cacheprovider', 'test_signature.py'], {
      HOME: process.env.HOME ?? '',
    });
    expect(said).toContain('1 passed');
    expect(code).toBe(0);
  });
});
