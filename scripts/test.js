import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, step } from './ensure.js';

// The README's second command: installs and builds what is missing, then checks everything.
const root = join(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', name);
const check = (title, program, ...words) => step(title, process.execPath, [bin(program), ...words]);

await ensureInstalled();
await Promise.all([
  ensureBuilt(),
  check('Types, and lint with types', 'oxlint/bin/oxlint'),
  check('Format and lint', '@biomejs/biome/bin/biome', 'check', '.'),
  check(
    'Floors of the house',
    'dependency-cruiser/bin/dependency-cruise.mjs',
    ...['src', '--config', '.dependency-cruiser.cjs'],
  ),
]);

const projects = ['unit', 'e2e', 'browser', 'rgw'].flatMap((name) => ['--project', name]);
const words = [bin('vitest/vitest.mjs'), 'run', ...projects, ...process.argv.slice(2)];
const vitest = spawn(process.execPath, words, { cwd: root, stdio: 'inherit' });
vitest.on('close', (code) => {
  process.exitCode = code ?? 1;
});
