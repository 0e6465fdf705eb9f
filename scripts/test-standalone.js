import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './ensure.js';
import { runVitest } from './vitest.js';

// Runs the end-to-end suite on the standalone executable. Arguments are passed to the suite.
const root = join(import.meta.dirname, '..');
const name = process.platform === 'win32' ? 'esign.exe' : 'esign';
const bin = join(root, 'dist/standalone', name);
if (!existsSync(bin)) {
  process.stderr.write('No executable found. Run `npm run build:standalone` first.\n');
  process.exit(1);
}
await ensureInstalled();
process.exitCode = await runVitest(['promises', 'process'], process.argv.slice(2), { ESIGN_BIN: bin });
