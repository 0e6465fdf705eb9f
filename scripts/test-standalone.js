import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './ensure.js';

// Runs the end-to-end suite on the standalone executable. Arguments go to the suite.
const root = join(import.meta.dirname, '..');
const name = process.platform === 'win32' ? 'esign.exe' : 'esign';
const bin = join(root, 'dist/standalone', name);
if (!existsSync(bin)) {
  process.stderr.write('No executable found. Run `npm run build:standalone` first.\n');
  process.exit(1);
}
await ensureInstalled();
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const args = [vitest, 'run', '--project', 'e2e', ...process.argv.slice(2)];
const child = spawn(process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ESIGN_BIN: bin },
});
child.on('close', (code) => {
  process.exitCode = code ?? 1;
});
