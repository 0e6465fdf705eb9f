/* @module-tag full */

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

// The whole suite on the package is `npm run test:packed`; this test quickly detects a file that is left out.
describe.skipIf(process.env.ESIGN_BIN)('the package', () => {
  it('contains everything that a command needs, and nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'esign-packed-'));
    try {
      const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
        cwd: ROOT,
      });
      await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', folder]);
      const env = { PATH: process.env.PATH, HOME: folder };
      const esign = (...words: string[]) =>
        run(process.execPath, [join(folder, 'package/bin/run.js'), ...words], { env });
      const listed = await esign('profiles', 'list', '--json');
      expect(JSON.parse(listed.stdout)).toEqual([]);
      expect((await esign('envelopes', 'get', '--help')).stdout).toContain('USAGE');
      const [sandbox, client] = [
        join(folder, 'package/dist/program/sandbox.cjs'),
        join(folder, 'package/dist/client/client.cjs'),
      ];
      const load = `console.log(typeof require(${JSON.stringify(sandbox)}).startSandbox, typeof require(${JSON.stringify(client)}).createClient)`;
      expect((await run(process.execPath, ['--eval', load], { env })).stdout).toBe('function function\n');
      const demo = await esign('demo', '--json', '--dir', join(folder, 'downloads'));
      expect(JSON.parse(demo.stdout)).toHaveProperty('files');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
