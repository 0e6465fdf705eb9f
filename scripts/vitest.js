import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** If more files than this fail in CI, the cause isn't chance. */
const MAX_AGAIN = 3;

/**
 * Runs these projects of vitest.config.ts and returns the exit code. The tests get a temporary folder of their own, and the run
 * fails if they leave something in it. In CI, where a process may stand still for seconds, files that fail are run a second time.
 */
export async function runVitest(projects, words = [], env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'esign-tests-'));
  const [temporary, failures] = [join(folder, 't'), join(folder, 'failed')];
  mkdirSync(temporary);
  try {
    const chosen = projects.flatMap((name) => ['--project', name]);
    const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...chosen, ...words];
    const own = { TMPDIR: temporary, TEMP: temporary, TMP: temporary, ESIGN_FAILED_FILES: failures };
    const run = (files) => runScript([...args, ...files], { ...process.env, ...own, ...env });
    let code = await run([]);
    const failed = existsSync(failures) ? readFileSync(failures, 'utf8').split('\n').filter(Boolean) : [];
    // A fault suite that fails only sometimes has found something.
    const isAgain = process.env.CI && !projects.includes('nightly');
    if (code !== 0 && isAgain && failed.length > 0 && failed.length <= MAX_AGAIN) {
      process.stderr.write(`Running again: ${failed.join(' ')}\n`);
      code = await run(failed);
      if (code === 0) process.stderr.write(`Passed only when run again: ${failed.join(' ')}\n`);
    }
    const left = readdirSync(temporary);
    if (left.length === 0) return code;
    process.stderr.write(`The tests left files in the temporary folder: ${left.join(', ')}\n`);
    return code || 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
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
