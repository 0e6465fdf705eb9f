import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Checks that the standalone executable works on this system without any packages: its version, its help, and the demo, which
// runs the sandbox, signs, and downloads PDFs from its bucket.
const name = process.platform === 'win32' ? 'esign.exe' : 'esign';
const bin = process.env.ESIGN_BIN ?? join(import.meta.dirname, '../dist/standalone', name);
const home = mkdtempSync(join(tmpdir(), 'esign-smoke-'));
const env = { ...process.env, HOME: home, XDG_CACHE_HOME: home, LOCALAPPDATA: home, APPDATA: home };
const esign = (...args) => execFileSync(bin, args, { env, encoding: 'utf8' });
try {
  const version = esign('--version').trim();
  if (!version.startsWith('esign-cli/')) throw new Error(`--version printed ${version}`);
  if (!esign('envelopes', 'create', '--help').includes('--template'))
    throw new Error('--help shows no flags');
  const { files } = JSON.parse(esign('demo', '--json', '--dir', join(home, 'documents')));
  const missing = files.filter(({ path }) => !existsSync(path));
  if (files.length < 2 || missing.length > 0) throw new Error('the demo left no documents');
  process.stdout.write(`${version}: version, help, and demo work\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
