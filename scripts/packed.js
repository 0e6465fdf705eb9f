import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, step } from './ensure.js';
import { here, NODES, nodeOf } from './nodes.js';
import { progress } from './progress.js';
import { checkCore } from './systems/core.js';
import { System } from './systems/system.js';
import { install, pack } from './tarball.js';
import { runVitest } from './vitest.js';

// Packs the tarball, checks its contents, installs it in an empty folder without a network, and runs the end-to-end suite on the
// installed package. Arguments are passed to the suite. With `--node 24,26`, only the core checks run, on each of these versions
// of Node. With `--arm64` before it, they run on Linux arm64, which QEMU emulates on other processors. For details, see
// docs/contributing/releases.md.
const root = join(import.meta.dirname, '..');
const LIMIT = 8_000_000;

/** The exit code if the checks can't start. */
const NOT_HERE = 77;

// The suite accepts any arguments.
const isArm64 = process.argv[2] === '--arm64';
const words = process.argv.slice(isArm64 ? 3 : 2);
const lines = words[0] === '--node' ? words[1].split(',') : [];
const [system, arch] = isArm64 ? ['linux', 'arm64'] : here;
/** The libraries of Debian's cross packages. On arm64 itself, the variable has no effect. */
if (isArm64) process.env.QEMU_LD_PREFIX ??= '/usr/aarch64-linux-gnu';

await ensureBuilt();
if (isArm64) await checkEmulation();
const folder = await mkdtemp(join(tmpdir(), 'esign-packed-'));
try {
  const { tarball, files } = await pack(folder);
  checkContents(files);
  const program = await install(tarball, folder, isArm64 ? ['--os=linux', '--cpu=arm64'] : ['--offline']);
  await typesServeAProgram();
  if (lines.length > 0) await coreOn(lines, program);
  if (lines.length === 0)
    process.exitCode = await runVitest(['promises', 'process'], words, { ESIGN_BIN: program });
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Exits with 77 if programs for arm64 can't run. */
async function checkEmulation() {
  const node = await nodeOf(NODES[24], system, arch);
  const { stdout, error, stderr } = spawnSync(node, ['-p', 'process.arch'], { encoding: 'utf8' });
  if (stdout?.trim() === 'arm64') return;
  const needed = 'qemu-user-static, binfmt-support, libc6-arm64-cross, and libstdc++6-arm64-cross';
  process.stderr.write(
    `Can't run programs for arm64 (${error?.code ?? stderr}). Debian's ${needed} are needed.\n`,
  );
  process.exit(NOT_HERE);
}

/** Fails if the package contains unexpected files or is too large. */
function checkContents(files) {
  const stray = files.filter(({ path }) => !/^(bin|dist|contract|skills)\/|^[A-Za-z.-]+$/.test(path));
  if (stray.length > 0)
    throw new Error(`the package contains unexpected files: ${stray.map(({ path }) => path).join(', ')}`);
  const isFont = ({ path }) => /^dist\/fonts\/|\.ttf$/.test(path);
  const size = sum(files.filter((file) => !isFont(file)));
  const line = `${files.length} files, ${megabytes(size)} and ${megabytes(sum(files.filter(isFont)))} of fonts`;
  process.stderr.write(`${line}\n`);
  if (size > LIMIT)
    throw new Error(`the package is too large: without fonts, the limit is ${megabytes(LIMIT)}`);
}

/** Type-checks a TypeScript program that depends only on the package, as strictly as possible. */
async function typesServeAProgram() {
  await mkdir(join(folder, 'program'));
  await writeFile(
    join(folder, 'program/send.ts'),
    `import { createClient, ServiceError, type Envelope, type Outcome } from 'esign-cli/client';
const esign = createClient({ baseUrl: 'https://api.example.com/api/v1', apiKey: 'k' });
const first: Envelope | undefined = (await esign.envelopes.page(1)).items[0];
const outcome: Outcome = await esign.envelopes.send(first?.id ?? '');
// @ts-expect-error: an unknown outcome has no envelope
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

/** Runs the core checks on other versions of Node, at the same time, because they mostly wait. */
async function coreOn(lines, program) {
  const systems = [];
  for (const line of lines) {
    const version = NODES[line] ?? line;
    const home = join(folder, `home of Ada ${line}`);
    await mkdir(join(home, 'temporary'), { recursive: true });
    const node = await nodeOf(version, system, arch);
    systems.push(
      new System({ command: [node, program], home, platform: [`linux-${arch}`, `node-v${version}`] }),
    );
  }
  const ended = progress(`Core checks on Node ${lines.join(', ')}`);
  const results = await Promise.allSettled(systems.map(checkCore));
  const failures = results.flatMap(({ reason }) => reason ?? []);
  ended(failures.length === 0);
  if (failures.length > 0) throw new AggregateError(failures);
}

function sum(files) {
  return files.reduce((total, { size }) => total + size, 0);
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
