import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, step } from './ensure.js';
import { runTool } from './tools.js';

// What publint and "are the types wrong" say of the tarball.
await ensureBuilt();
const folder = await mkdtemp(join(tmpdir(), 'esign-check-'));
try {
  await step('Packing', 'npm', ['pack', '--ignore-scripts', '--pack-destination', folder]);
  const [name = ''] = await readdir(folder);
  const tarball = join(folder, name);
  await runTool('publint', ['--strict', tarball]);
  // An ES module only: old ways of resolving don't count.
  await runTool('attw', ['--profile', 'esm-only', tarball]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
