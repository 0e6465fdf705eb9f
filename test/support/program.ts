import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PACKAGE } from './cli.ts';

const run = promisify(execFile);

/** Runs a program that imports the package under test by name, in a process independent of the tests. Returns its output. */
export async function program(source: string, env: Record<string, string>): Promise<string> {
  const cwd = PACKAGE ?? '';
  const args = ['--input-type=module', '--eval', source];
  const { stdout } = await run(process.execPath, args, { cwd, env: { PATH: process.env.PATH, ...env } });
  return stdout;
}
