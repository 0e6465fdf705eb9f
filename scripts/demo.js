import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';

// The README's first command: installs the packages and builds, if necessary, then runs `esign demo`.
await ensureBuilt();
const child = spawn(
  process.execPath,
  [join(import.meta.dirname, '../bin/run.js'), 'demo', ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
child.on('close', (code) => {
  process.exitCode = code ?? 1;
});
