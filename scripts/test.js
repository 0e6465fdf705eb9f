import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, step } from './ensure.js';

// The README's second command: installs and builds what is missing, then checks everything.
const root = join(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', name);
const node = process.execPath;

await ensureBuilt();
await step('Type check', node, [bin('typescript/bin/tsc'), '--noEmit', '-p', '.']);
await step('Format and lint', node, [bin('@biomejs/biome/bin/biome'), 'check', '.']);
await step('Lint with types', node, [bin('eslint/bin/eslint.js'), 'src', 'test']);
await step('Floors of the house', node, [
  bin('dependency-cruiser/bin/dependency-cruise.mjs'),
  'src',
  '--config',
  '.dependency-cruiser.cjs',
]);

const vitest = spawn(
  node,
  [
    bin('vitest/vitest.mjs'),
    'run',
    '--project',
    'unit',
    '--project',
    'e2e',
    '--project',
    'browser',
    '--project',
    'rgw',
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
vitest.on('close', (code) => {
  process.exitCode = code ?? 1;
});
