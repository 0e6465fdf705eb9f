import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { lateBuiltins, lateRequires, ownBuiltins } from './lazy.js';
import { mergeChunks } from './merge-chunks.js';
import { slim } from './slim.js';

const root = join(import.meta.dirname, '..');

// CommonJS packages inside the ESM bundle expect these three.
const GLOBALS = {
  require: `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);
`,
  __filename: `import { fileURLToPath as __toPath } from 'node:url';
const __filename = __toPath(import.meta.url);
`,
  __dirname: `import { fileURLToPath as __toFolder } from 'node:url';
const __dirname = __toFolder(new URL('.', import.meta.url));
`,
};

/** The folders of dist/ that the bundler makes. */
export const BUNDLED = ['chunks', 'cli', 'client', 'commands', 'sandbox'];

const banner = Object.values(GLOBALS).join('');

/** One entry per command, so that a command loads its own code only; what they share is split off. */
export async function bundleOptions() {
  const commands = (await readdir(join(root, 'src/commands'), { recursive: true })).filter((file) =>
    file.endsWith('.ts'),
  );
  return {
    absWorkingDir: root,
    entryPoints: [
      'src/cli/main.ts',
      'src/cli/autocomplete/complete.ts',
      'src/cli/help.ts',
      'src/cli/boot/update-check.ts',
      'src/client/client.ts',
      // Threads' own programs.
      'src/sandbox/papers/inspect-worker.ts',
      ...commands.map((file) => join('src/commands', file)),
    ],
    outbase: 'src',
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [slim, lateRequires, ownBuiltins],
    banner: { js: banner },
    minify: true,
    // oclif looks for TypeScript only when it runs from sources, which the bundle never does;
    // the keychain's package holds machine code.
    external: ['typescript', '@napi-rs/keyring'],
    legalComments: 'linked',
    logLevel: 'warning',
  };
}

/** Makes the program in dist/. */
export async function bundle() {
  for (const part of BUNDLED) await rm(join(root, 'dist', part), { recursive: true, force: true });
  const { metafile } = await build({ ...(await bundleOptions()), metafile: true });
  const asking = await trimBanners(metafile);
  const client = chunkOf('src/api/client.ts', metafile);
  const merged = await mergeChunks(root, metafile, {
    core: ['dist/cli/main.js'],
    command: ['dist/commands/envelopes/get.js', 'dist/commands/envelopes/list.js'],
    client: [client, chunkOf('src/completion/cache.ts', metafile)],
  });
  await rewriteBuiltins();
  await countModules(metafile, merged);
  await noteAsking(asking, merged);
  await copyShaper(join(root, 'dist'));
  await bundlePaths();
}

/** For bin/run.js, which is CommonJS and wants a folder before it loads anything else. */
async function bundlePaths() {
  const { absWorkingDir, platform, target, minify } = await bundleOptions();
  const common = { absWorkingDir, platform, target, minify, bundle: true };
  await build({ ...common, entryPoints: ['src/kernel/paths.ts'], format: 'cjs', outfile: 'dist/paths.cjs' });
}

/** harfbuzzjs loads its WebAssembly from beside its own file. */
export async function copyShaper(dist) {
  await cp(join(root, 'node_modules/harfbuzzjs/dist/harfbuzz.wasm'), join(dist, 'chunks/harfbuzz.wasm'));
}

/** The file that a lazily loaded module has become. */
function chunkOf(module, { outputs }) {
  return Object.keys(outputs).find((file) => outputs[file].entryPoint === module);
}

/**
 * Most files need none of the three, and making them takes a while in each of the forty that a command loads. Returns
 * those whose own code asks for a file beside them.
 */
async function trimBanners({ outputs }) {
  const asking = [];
  for (const name of Object.keys(outputs).filter((file) => file.endsWith('.js'))) {
    const path = join(root, name);
    const text = await readFile(path, 'utf8');
    const body = Object.values(GLOBALS).reduce((rest, part) => rest.replace(part, ''), text);
    if (body.includes('import.meta.url')) asking.push(name);
    const needed = Object.entries(GLOBALS).filter(([word]) => new RegExp(`\\b${word}\\b`).test(body));
    await writeFile(path, needed.map(([, part]) => part).join('') + body);
  }
  return asking;
}

/** For the standalone executable, which unpacks its files only for code that asks for one. */
async function noteAsking(asking, merged) {
  const files = asking.map((file) => (merged.has(file) ? `dist/chunks/${merged.get(file)}.js` : file));
  await writeFile(join(root, 'dist/.asking.json'), JSON.stringify([...new Set(files)]));
}

/** Last of all, since what puts files together reads their imports. */
async function rewriteBuiltins() {
  for (const part of BUNDLED) {
    const files = await readdir(join(root, 'dist', part), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      const path = join(root, 'dist', part, file);
      await writeFile(path, lateBuiltins(await readFile(path, 'utf8')));
    }
  }
}

/** How many modules are in each file, for the test that counts what a command loads. */
async function countModules({ outputs }, merged) {
  const counts = Object.entries(outputs)
    .filter(([file]) => file.endsWith('.js'))
    .map(([file, { inputs }]) => [
      file,
      Object.entries(inputs).filter(
        ([input, { bytesInOutput }]) => bytesInOutput > 0 && !input.startsWith('own-builtin:'),
      ).length,
    ]);
  const byFile = Object.fromEntries(counts);
  for (const [file, name] of merged) {
    const whole = `dist/chunks/${name}.js`;
    byFile[whole] = (byFile[whole] ?? 0) + byFile[file];
    byFile[file] = 0;
  }
  await writeFile(join(root, 'dist/.modules.json'), JSON.stringify(byFile));
}

/** What the web pages of the sandbox and of `listen --inspect` load: style, script, the PDF viewer, a font. */
export async function copyPages() {
  const target = join(root, 'dist/pages');
  const viewer = join(root, 'node_modules/pdfjs-dist/legacy/build');
  await cp(join(root, 'src/sandbox/pages/assets'), target, { recursive: true });
  for (const file of ['pdf.min.mjs', 'pdf.worker.min.mjs']) await cp(join(viewer, file), join(target, file));
  await cp(join(root, 'dist/fonts/Caveat_500Medium.ttf'), join(target, 'hand.ttf'));
  await cp(join(root, 'src/webhooks/inspector/assets'), join(root, 'dist/inspector'), { recursive: true });
}

/** oclif.manifest.json: all commands and flags in one file, so that help and routing load no command. */
export async function manifest() {
  const cli = join(root, 'node_modules/oclif/bin/run.js');
  await promisify(execFile)(process.execPath, [cli, 'manifest'], { cwd: root });
}

/** Every page of help as a pipe gets it, so that it is shown as fast as a file is read. */
export async function helpPages() {
  process.env.OCLIF_COLUMNS = '80';
  process.env.NO_COLOR = '1';
  const { Config } = await import('@oclif/core/config');
  const { default: Help } = await import('../dist/cli/help.js');
  const { commandIDs, topics } = await Config.load({ root });
  const folder = join(root, 'dist/help');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const ids = [...commandIDs, ...topics.map((topic) => topic.name), ''];
  for (const id of ids) {
    const words = id === '' ? [] : id.split(':');
    let page = '';
    // Help changes the commands it describes.
    const help = new Help(await Config.load({ root }));
    help.log = (...lines) => {
      page += `${lines.join(' ')}\n`;
    };
    await help.showHelp(words);
    await writeFile(join(folder, `${words.join(' ') || 'esign'}.txt`), page);
  }
}
