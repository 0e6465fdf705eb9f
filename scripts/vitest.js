import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * Runs these projects of vitest.config.ts and returns the exit code. The tests get their own temporary folder, and the run
 * fails if they leave something in it. A test that fails only sometimes has found something: none is tried again.
 */
export async function runVitest(projects, words = [], env = {}) {
  const temporary = mkdtempSync(join(tmpdir(), 'esign-tests-'));
  try {
    const chosen = projects.flatMap((name) => ['--project', name]);
    const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...chosen, ...words];
    const code = await runScript(args, {
      ...process.env,
      TMPDIR: temporary,
      TEMP: temporary,
      TMP: temporary,
      ...env,
    });
    const left = readdirSync(temporary);
    if (left.length === 0) return code;
    process.stderr.write(`The tests left files in the temporary folder: ${left.join(', ')}\n`);
    return code || 1;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Runs a script of a package with this terminal and returns its exit code. */
export function runScript(args, env) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
