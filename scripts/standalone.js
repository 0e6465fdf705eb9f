import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { build, transform } from 'esbuild';
import { ensureBuilt } from './ensure.js';
import { baseNode, inject } from './sea.js';

// Makes dist/standalone/esign: one executable of Node and everything the package has. docs/packaging.md says how it works.
const root = join(import.meta.dirname, '..');
const out = join(root, 'dist/standalone');
const parts = join(out, 'parts');
const run = promisify(execFile);

await ensureBuilt();
const node = await baseNode();
await rm(parts, { recursive: true, force: true });
const carried = await copyFiles();
const code = await copyCode();
await writeFile(join(parts, 'contents.json'), JSON.stringify({ ...carried, needsFiles: code.needsFiles }));
await compileEntries();
await rehearse();
const target = join(out, process.platform === 'win32' ? 'esign.exe' : 'esign');
await assemble();
await rm(parts, { recursive: true, force: true });
const { stdout } = await run(target, ['--version']);
const { size } = await stat(target);
process.stderr.write(`${relative(root, target)}: ${stdout.trim()}, ${(size / 1e6).toFixed(0)} MB\n`);

/** What has to be files for the program: all of the package but its help, which is read from inside. */
async function copyFiles() {
  const names = [
    'package.json',
    'oclif.manifest.json',
    'contract/openapi.yaml',
    ...(await filesIn('dist')).filter((name) => !/^dist\/(help|standalone|types|man|deb|\.)/.test(name)),
  ];
  const hash = createHash('sha256');
  for (const name of names) {
    const bytes = await readFile(join(root, name));
    hash.update(name).update(bytes);
    await put(`files/${name}`, bytes);
  }
  for (const name of await filesIn('dist/help'))
    await put(name.replace(/^dist\//, ''), await readFile(join(root, name)));
  return { id: hash.digest('hex').slice(0, 16), files: names };
}

/** The bundle's files as functions that get their surroundings handed in. */
async function copyCode() {
  const asking = JSON.parse(await readFile(join(root, 'dist/.asking.json'), 'utf8'));
  const needsFiles = [];
  for (const name of await filesIn('dist')) {
    if (!/^dist\/(chunks|cli|commands)\/.*\.js$/.test(name)) continue;
    const source = await readFile(join(root, name), 'utf8');
    // oclif reads its manifest.
    if (asking.includes(name) || source.includes('oclif.manifest')) needsFiles.push(name);
    const { code: text } = await transform(source, {
      format: 'cjs',
      platform: 'node',
      target: 'node24',
      minify: true,
      define: { 'import.meta.url': '__url', 'import.meta': '__meta' },
      supported: { 'dynamic-import': false },
      legalComments: 'none',
    });
    await put(`code/${name}`, `(function(module,exports,require,__url){${text}\n})`);
  }
  return { needsFiles };
}

async function compileEntries() {
  const shared = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node24', minify: true };
  const sea = { ...shared, entryPoints: ['src/standalone/sea.ts'], format: 'cjs' };
  await build({ ...sea, outfile: join(out, 'parts/sea.cjs') });
  const rehearsal = { ...shared, entryPoints: ['src/standalone/code-cache.ts'], format: 'esm' };
  await build({ ...rehearsal, outfile: join(out, 'parts/rehearsal.mjs') });
}

/** Runs commands as the executable will and keeps what V8 compiles for them. */
async function rehearse() {
  const home = await mkdtemp(join(tmpdir(), 'esign-rehearsal-'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    ESIGN_CONFIG_DIR: join(home, 'config'),
    ESIGN_STATE_DIR: join(home, 'state'),
    ESIGN_NO_UPDATE_NOTICE: '1',
  };
  const esign = (...args) => run(node, [join(parts, 'rehearsal.mjs'), ...args], { env, cwd: home });
  const sandbox = spawn(
    node,
    [join(parts, 'rehearsal.mjs'), 'sandbox', 'start', '--ephemeral', '--port', '0', '--json'],
    { env, cwd: home, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise((resolve) => sandbox.once('close', resolve));
  try {
    await new Promise((resolve) => sandbox.stdout.once('data', resolve));
    const create = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>'];
    const { stdout: made } = await esign(...create, '--send', '--json');
    const { id } = JSON.parse(made);
    await esign('templates', 'list');
    await esign('profiles', 'list');
    await esign('envelopes', 'list', '--json');
    await esign('envelopes', 'list');
    await esign('envelopes', 'get', id);
    await esign('envelopes', 'get', id, '--json');
    await esign('demo', '--json');
    await esign('__complete', 'bash', '=', 'envelopes');
  } finally {
    sandbox.kill();
    await ended;
    await rm(home, { recursive: true, force: true });
  }
}

async function assemble() {
  const names = (await filesIn(relative(root, parts))).map((name) =>
    posix.relative(relative(root, parts).split(sep).join('/'), name),
  );
  const assets = Object.fromEntries(
    names
      .filter((name) => !/^(sea\.cjs|rehearsal\.mjs)$/.test(name))
      .map((name) => [name, join(parts, name)]),
  );
  await inject({ node, main: join(parts, 'sea.cjs'), assets, folder: out, target });
}

async function put(name, data) {
  const path = join(parts, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, data);
}

/** The files under a folder of the project, as names with slashes, in order. */
async function filesIn(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
