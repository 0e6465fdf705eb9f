import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { progress } from '../progress.js';
import { installIn } from '../tools.js';
import { named } from './wine.js';

const root = join(import.meta.dirname, '../..');
/** The sources with the packages for Windows: those hold machine code. */
const COPY = join(root, 'node_modules/.cache/windows');
const LIMIT_MS = 1_500_000;
/** Each file and each process costs more under wine. */
const PATIENT = ['--testTimeout', '180000', '--hookTimeout', '180000'];
const OTHERS = /^(e2e|faults|browser|contract|mutation|rgw|bench|fixtures)$/;

/** Runs the unit suite on Windows, a folder of tests after the other or those that are named; true when nothing failed. */
export async function checkUnit(wine, folder, asked) {
  await copySources();
  const parts = asked.length > 0 ? asked : foldersOf(join(COPY, 'test'));
  const failed = [];
  for (const part of parts) if (!(await passes(wine, folder, part))) failed.push(part);
  if (failed.length > 0) process.stderr.write(`Failed: ${failed.join(', ')}\n`);
  return failed.length === 0;
}

async function copySources() {
  for (const name of existsSync(COPY) ? readdirSync(COPY) : [])
    if (name !== 'node_modules') rmSync(join(COPY, name), { recursive: true });
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const name of [...names, 'dist', 'oclif.manifest.json'])
    if (existsSync(join(root, name))) cpSync(join(root, name), join(COPY, name), { recursive: true });
  const words = ['--os=win32', '--cpu=x64', '--ignore-scripts'];
  await installIn(COPY, 'Installing packages for Windows', words);
}

function foldersOf(tests) {
  const entries = readdirSync(tests, { withFileTypes: true }).filter(({ name }) => !OTHERS.test(name));
  return entries.map((entry) => `test/${entry.name}${entry.isDirectory() ? '/' : ''}`);
}

async function passes(wine, folder, part) {
  const log = join(folder, 'vitest.log');
  const out = openSync(log, 'w');
  const [program, ...words] = [...wine.node, named(join(COPY, 'node_modules/vitest/vitest.mjs'))];
  const suite = ['run', '--project', 'unit', '--pool', 'threads', '--reporter', 'default', ...PATIENT, part];
  // Under wine some tests can't hold (test/support/wine.ts), and what touches the clock gets a second try.
  const env = { ...process.env, ...wine.env, ESIGN_WINE: '1', CI: '1', NO_COLOR: '1' };
  const ended = progress(part);
  const child = spawn(program, [...words, ...suite], { cwd: COPY, env, stdio: ['ignore', out, out] });
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(limit);
  ended(code === 0);
  const said = readFileSync(log, 'utf8');
  if (code !== 0) process.stderr.write(`${said}\nIt exited with ${signal ?? code}.\n`);
  else process.stderr.write(said.match(/^ +Tests .*$/m)?.[0].concat('\n') ?? '');
  return code === 0;
}
