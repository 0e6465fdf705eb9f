import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, step } from './ensure.js';

// What publint and "are the types wrong" say of the tarball. Both are fetched when first asked for: nobody needs them to
// build, test or use the CLI.
await ensureBuilt();
const folder = await mkdtemp(join(tmpdir(), 'esign-check-'));
try {
  await step('Packing', 'npm', ['pack', '--ignore-scripts', '--pack-destination', folder]);
  const [name = ''] = await readdir(folder);
  const tarball = join(folder, name);
  await step('publint', 'npx', ['--yes', 'publint@0.3.25', '--strict', tarball]);
  // An ES module only: old ways of resolving don't count.
  const types = ['--yes', '@arethetypeswrong/cli@0.18.5', '--profile', 'esm-only', tarball];
  await step('attw', 'npx', types);
} finally {
  await rm(folder, { recursive: true, force: true });
}
