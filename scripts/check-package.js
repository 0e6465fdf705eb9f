import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';
import { pack } from './tarball.js';
import { runTool } from './tools.js';

// What publint and "are the types wrong" say of the tarball.
await ensureBuilt();
const folder = await mkdtemp(join(tmpdir(), 'esign-check-'));
try {
  const { tarball } = await pack(folder);
  await runTool('publint', ['--strict', tarball]);
  // For `import` and `require`. Resolution without `exports`, as before Node 16, doesn't count.
  await runTool('attw', ['--profile', 'node16', tarball]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
