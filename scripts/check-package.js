import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';
import { pack } from './tarball.js';
import { runTool } from './tools.js';

// Checks the tarball with publint and Are the Types Wrong.
await ensureBuilt();
const folder = await mkdtemp(join(tmpdir(), 'esign-check-'));
try {
  const { tarball } = await pack(folder);
  await runTool('publint', ['--strict', tarball]);
  // Checks `import` and `require`, but not the resolution without `exports` that Node used before version 16.
  await runTool('attw', ['--profile', 'node16', tarball]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
