import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureBuilt, step } from './ensure.js';

// Packs the tarball, checks what is in it, installs it in an empty folder without a network, and runs the end-to-end suite
// on what was installed. Arguments go to the suite. docs/packaging.md says more.
const root = join(import.meta.dirname, '..');
const run = promisify(execFile);
const LIMIT = 8_000_000;

await ensureBuilt();
const folder = await mkdtemp(join(tmpdir(), 'esign-packed-'));
try {
  const tarball = await pack();
  await install(tarball);
  await typesServeAProgram();
  process.exitCode = await suite();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function pack() {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ filename, files }] = JSON.parse(stdout);
  const stray = files.filter(({ path }) => !/^(bin|dist|contract|skills)\/|^[A-Za-z.]+$/.test(path));
  if (stray.length > 0) throw new Error(`the package has ${stray.map(({ path }) => path).join(', ')}`);
  const isFont = ({ path }) => /^dist\/fonts\/|\.ttf$/.test(path);
  const size = sum(files.filter((file) => !isFont(file)));
  const line = `${files.length} files, ${megabytes(size)} and ${megabytes(sum(files.filter(isFont)))} of fonts`;
  process.stderr.write(`${filename}: ${line}\n`);
  if (size > LIMIT) throw new Error(`without fonts the package may have ${megabytes(LIMIT)}`);
  return join(folder, filename);
}

async function install(tarball) {
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const args = ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', tarball];
  await step('Installing the package', 'npm', args, { cwd: folder });
}

/** A TypeScript program that depends on the package and on nothing else, checked as strictly as can be. */
async function typesServeAProgram() {
  await mkdir(join(folder, 'program'));
  await writeFile(
    join(folder, 'program/send.ts'),
    `import { createClient, ServiceError, type Envelope, type Outcome } from 'esign-cli/client';
const esign = createClient({ baseUrl: 'https://api.example.com/api/v1', apiKey: 'k' });
const first: Envelope | undefined = (await esign.envelopes.page(1)).items[0];
const outcome: Outcome = await esign.envelopes.send(first?.id ?? '');
// @ts-expect-error: only a settled outcome has an envelope
const broken: Envelope = outcome.envelope;
// @ts-expect-error: an envelope needs signers
await esign.envelopes.create({ templateId: 't' });
export const status = (error: unknown): number => (error instanceof ServiceError ? error.status : broken.id.length);
`,
  );
  const compilerOptions = { strict: true, noEmit: true, target: 'es2023', module: 'nodenext', types: [] };
  await writeFile(join(folder, 'program/tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await step('Types of the client', process.execPath, [tsc, '-p', join(folder, 'program')]);
}

function suite() {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project', 'e2e', ...process.argv.slice(2)];
  const env = { ...process.env, ESIGN_BIN: join(folder, 'node_modules/esign-cli/bin/run.js') };
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  return new Promise((resolve) => child.on('close', resolve));
}

function sum(files) {
  return files.reduce((total, { size }) => total + size, 0);
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
