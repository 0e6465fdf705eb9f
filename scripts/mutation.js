import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, step } from './ensure.js';

// Changes the client's code in one small place after the other and runs the unit tests each time: a change that no test
// notices is one that nobody would. Fails under 85 % noticed; coverage/mutation.json names every change.
// npm run test:mutation [-- --mutate src/api/http.ts]
const root = join(import.meta.dirname, '..');
const folder = join(root, 'test', 'mutation');

await ensureInstalled();
await ensureStryker();
const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const args = [stryker, 'run', 'test/mutation/stryker.config.json', ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
child.on('close', (code) => {
  process.exitCode = code ?? 1;
});

/** Stryker has a folder of its own: nobody needs it to build, test or use the CLI. It takes vitest from the project. */
async function ensureStryker() {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).update(process.version).digest('hex');
  const stamp = join(folder, 'node_modules', '.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  const install = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  await step('Installing Stryker', 'npm', install, { cwd: folder });
  writeFileSync(stamp, hash);
}
