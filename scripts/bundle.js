import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { inputsOf } from './notices.js';
import { acceptContinue, firstStandIns, lateStandIns } from './stand-ins.js';

/*
 * Creates the bundle (docs/contributing/decisions/0008). The code that every command needs is one CommonJS file, dist/program/esign.cjs, in
 * which a module runs when it is first imported. All other code is in ES modules, split by esbuild. They import shared code from
 * the first file, so that each module exists only once.
 */
const root = join(import.meta.dirname, '..');

/** The commands that scripts may run thousands of times. They need only the first file. */
const FIRST = /^(templates|profiles|envelopes (get|list|create|send|cancel|remind))\b/;
/** Modules that nearly all of these commands import late, and completion, which runs on every Tab. */
const ALSO_FIRST = ['api/client.ts', 'cli/completion/cache.ts', 'cli/completion/complete-line.ts'];
/** Entry points that no module imports: code loaded by oclif or other programs, and the code of threads. */
const ENTRIES = {
  'sandbox/embed.ts': 'sandbox',
  'cli/help.ts': 'help',
};
/** Packages in the first file that the other files import from it. */
const SHARED_PACKAGES = /^@oclif\/core\/(args|command|flags)$/;

const COMMON = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // oclif needs TypeScript only when it runs from source, which the bundle never does.
  external: ['typescript'],
  // The licenses are in THIRD-PARTY-NOTICES.txt.
  legalComments: 'none',
  logLevel: 'warning',
};

/**
 * Bundles the program into a dist folder. `more` contains additional bundler options. Returns the files in the bundle, which are
 * also listed in `.bundled.json`.
 */
export async function bundle(dist = join(root, 'dist'), more = {}) {
  for (const part of ['client', 'program']) await rm(join(dist, part), { recursive: true, force: true });
  const program = join(dist, 'program');
  const commands = await commandTable();
  const first = await firstModules(commands);
  const late = new Set(Object.keys(ENTRIES));
  const inputs = new Set();
  const make = async (options) => {
    const plugins = [...(options.plugins ?? []), acceptContinue];
    const { metafile } = await build({ ...COMMON, ...more, ...options, plugins, metafile: true });
    for (const path of inputsOf(metafile)) inputs.add(path);
  };
  await make({
    stdin: { contents: startOf(first), resolveDir: join(root, 'src'), sourcefile: 'start.js' },
    outfile: join(program, 'esign.cjs'),
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    plugins: [firstStandIns, lateImports(first, late)],
  });
  await make({
    // Sorted, because esbuild resolves imports in any order, and the same sources must produce the same bytes.
    entryPoints: [...late, 'esign:commands'].sort().map((name) => ({
      in: name.endsWith('.ts') ? `src/${name}` : name,
      out: fileOf(name),
    })),
    outdir: program,
    chunkNames: '[name]-[hash]',
    splitting: true,
    format: 'esm',
    banner: { js: FOR_COMMONJS },
    external: [...COMMON.external, './esign.*'],
    plugins: [lateStandIns, lazyHttp, fromFirst(first), listOf(commands)],
  });
  await libraries(dist, make);
  // bin/run.js needs the cache folder before it loads anything else.
  await make({
    entryPoints: ['src/kernel/files/paths.ts'],
    outfile: join(program, 'paths.cjs'),
    format: 'cjs',
  });
  const shipped = [...inputs].sort();
  await writeFile(join(dist, '.bundled.json'), JSON.stringify(shipped));
  return shipped;
}

/**
 * Bundles `esign-cli/client`, and adds the files that `require` loads. The client keeps its names, because they appear in its users'
 * stack traces.
 */
async function libraries(dist, make) {
  await make({
    entryPoints: ['src/client/client.ts'],
    keepNames: true,
    format: 'esm',
    banner: { js: REQUIRE_BUILTIN },
    outfile: join(dist, 'client/client.js'),
  });
  for (const name of ['client/client', 'program/sandbox'])
    await writeFile(join(dist, `${name}.cjs`), requireModule(`./${basename(name)}.js`));
}

/**
 * A `require` for the client, which needs only Node's own modules. `createRequire(import.meta.url)` would fail in a program that is
 * itself bundled as CommonJS, where import.meta is empty.
 */
const REQUIRE_BUILTIN = `const require = (name) => {
  const part = process.getBuiltinModule(name);
  if (part === undefined) throw Object.assign(new Error(\`Cannot find module '\${name}'\`), { code: 'MODULE_NOT_FOUND' });
  return part;
};`;

/**
 * Loads an ES module with Node's own `require`. Jest's can't load ES modules on every supported Node, and Jest also replaces `process`,
 * except outside its context.
 */
const requireModule = (name) => `'use strict';
const { runInThisContext } = require('node:vm');
const { createRequire } = runInThisContext('process').getBuiltinModule('module');
module.exports = createRequire(__filename)('${name}');
`;

/** Three variables that CommonJS packages inside a module expect. */
const FOR_COMMONJS = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);
const { filename: __filename, dirname: __dirname } = import.meta;`;

/** Reads the words and the file of every command (src/commands.ts). */
async function commandTable() {
  const table = await readFile(join(root, 'src/commands.ts'), 'utf8');
  const rows = table.matchAll(/^ {2}'?([a-z ]+)'?: \(\) => import\('\.\/(.+)'\),$/gm);
  return [...rows].map(([, words, file]) => ({ words, file }));
}

/** Returns the entry point of the first file: the functions that bin/run.js calls, and its modules, for use by the others. */
function startOf(first) {
  const shared = [...first].map(
    (name) => `'${name}': () => require('${name.endsWith('.ts') ? `./${name}` : name}'),`,
  );
  return `
    export { complete, main } from './program.ts';
    export const shared = {${shared.join('\n')}};`;
}

/** Returns our modules and the shared packages in the first file: everything that isn't imported late. */
async function firstModules(commands) {
  const firstFiles = commands.filter(({ words }) => FIRST.test(words)).map(({ file }) => file);
  firstFiles.push(...ALSO_FIRST);
  const { metafile } = await build({
    ...COMMON,
    write: false,
    metafile: true,
    stdin: { contents: startOf(firstFiles), resolveDir: join(root, 'src'), sourcefile: 'start.js' },
    format: 'cjs',
    plugins: [
      {
        name: 'nothing late',
        setup: ({ onResolve }) =>
          onResolve({ filter: /./ }, ({ path, kind }) =>
            kind === 'dynamic-import' ? { path, external: true } : undefined,
          ),
      },
    ],
  });
  const ours = Object.keys(metafile.inputs).filter((path) => /^src\/.*\.ts$/.test(path));
  const imports = ours.flatMap((path) => metafile.inputs[path].imports.map(({ original }) => original));
  const packages = imports.filter((name) => SHARED_PACKAGES.test(name));
  return new Set([...ours.map((path) => path.slice('src/'.length)), ...packages].sort());
}

/** Turns modules that the first file imports late into separate files. */
function lateImports(first, late) {
  return {
    name: 'late-imports',
    setup: ({ onResolve }) =>
      onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
        const name = nameOf(path, resolveDir);
        const isOurs = kind === 'dynamic-import' && !first.has(name) && !isBuiltin(name);
        if (!isOurs || COMMON.external.includes(name)) return undefined;
        late.add(name);
        return { path: `./${fileOf(name)}.js`, external: true };
      }),
  };
}

/** Creates a plugin that generates the code of some modules. `isChosen` gets the name of a module and the kind of its import. */
function generated(namespace, isChosen, contents) {
  return {
    name: namespace,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
        const name = nameOf(path, resolveDir);
        return isChosen(name, kind) ? { path: name, namespace } : undefined;
      });
      onLoad({ filter: /./, namespace }, ({ path }) => ({
        contents: contents(path),
        resolveDir: join(root, 'src'),
      }));
    },
  };
}

/**
 * Resolves imports of modules in the first file to that file. A late import would find no named exports there, and saves nothing,
 * because the first file is always loaded.
 */
function fromFirst(first) {
  return generated(
    'first',
    (name, kind) => {
      if (first.has(name) && kind === 'dynamic-import')
        throw new Error(`Import ${name} at the top of the module, because every command loads it.`);
      return first.has(name);
    },
    (name) => `module.exports = require('./esign.cjs').shared['${name}']();`,
  );
}

/**
 * Replaces imports of Node's own modules with `require`. An import makes Node read every export, which for http loads fetch and
 * WebSocket and takes longer than the rest of http. `require` doesn't do this.
 */
const lazyHttp = generated(
  'lazy-http',
  (name, kind) => kind === 'import-statement' && /^(node:)?https?$/.test(name),
  (name) => `module.exports = require('${name}');`,
);

/** A module that loads all commands. Only the manifest needs it. */
function listOf(commands) {
  const imports = commands.map(({ file }, index) => `import command${index} from './${file}';`);
  const table = commands.map(({ words }, index) => `'${words.replaceAll(' ', ':')}': command${index},`);
  const contents = `${imports.join('\n')}\nexport const COMMANDS = {${table.join('\n')}};`;
  return generated(
    'commands',
    (name) => name === 'esign:commands',
    () => contents,
  );
}

/** Returns the path in src/ of one of our modules, and the name of anything else. */
function nameOf(path, resolveDir) {
  return path.startsWith('.')
    ? relative(join(root, 'src'), join(resolveDir, path)).split(sep).join('/')
    : path;
}

/** Returns the name of the file for a late import. */
function fileOf(name) {
  return ENTRIES[name] ?? name.replace(/^(@|esign:)|\.ts$/g, '').replaceAll('/', '-');
}

/** Copies the files of the web pages to `dist/pages`: styles, scripts, and the PDF viewer. */
export async function copyPages() {
  const target = join(root, 'dist/pages');
  await rm(target, { recursive: true, force: true });
  for (const folder of ['pages/assets', 'sandbox/pages/assets', 'webhooks/inspector/assets'])
    await cp(join(root, 'src', folder), target, { recursive: true });
  const viewer = join(root, 'node_modules/pdfjs-dist/legacy/build');
  for (const file of ['pdf.min.mjs', 'pdf.worker.min.mjs']) await cp(join(viewer, file), join(target, file));
}

/** Writes oclif.manifest.json, which lists all commands and flags, so that help and routing don't load any commands. */
export async function manifest() {
  const cli = join(root, 'node_modules/oclif/bin/run.js');
  await promisify(execFile)(process.execPath, [cli, 'manifest'], { cwd: root });
}

/** Writes every page of help in the form for pipes, so that showing it only takes reading a file. */
export async function helpPages() {
  process.env.OCLIF_COLUMNS = '80';
  process.env.NO_COLOR = '1';
  const { Config } = await import('@oclif/core/config');
  const { default: Help, HELP_TOPICS } = await import('../dist/program/help.js');
  const { commandIDs, topics } = await Config.load({ root });
  const folder = join(root, 'dist/help');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const ids = [...commandIDs, ...topics.map((topic) => topic.name), ...Object.keys(HELP_TOPICS), ''];
  for (const id of ids) {
    const words = id === '' ? [] : id.split(':');
    let page = '';
    // Help modifies the commands that it describes.
    const help = new Help(await Config.load({ root }));
    help.log = (...lines) => {
      page += `${lines.join(' ')}\n`;
    };
    await help.showHelp(words);
    await writeFile(join(folder, `${words.join(' ') || 'esign'}.txt`), page);
  }
}
