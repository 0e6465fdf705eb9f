import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';

// The README's first command: installs the packages and builds, if necessary, then runs `esign demo`.
await ensureBuilt();
process.argv.splice(1, 1, join(import.meta.dirname, '../bin/run.js'), 'demo');
await import('../bin/run.js');
