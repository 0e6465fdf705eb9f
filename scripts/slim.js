import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/*
 * What the packages we were asked to use load at start and this program never reaches, left out of the bundle
 * (docs/decisions/0008). Each stand-in says why nothing can miss what it replaces.
 */
const STAND_INS = {
  // The whole HTTP client is `dispatcher.request`: no fetch, WebSocket, cache, cookies, mocks or interceptors.
  undici: `
    const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
    Object.assign(Dispatcher.prototype, { request: require('undici/lib/api/api-request.js') });
    exports.Agent = require('undici/lib/dispatcher/agent.js');`,
  // Most output is no table.
  'cli-table3': `
    module.exports = function (...options) {
      const Table = require('cli-table3/src/table.js');
      return new Table(...options);
    };`,
  // oclif finds commands by patterns only when there is no manifest; the build always makes one.
  tinyglobby: `exports.glob = () => { throw new Error('oclif.manifest.json is missing; run npm run build') };`,
  // For plugins by pattern; there are none.
  minimatch: `exports.minimatch = () => false;`,
  // oclif reads package.json, which has its settings.
  lilconfig: `exports.lilconfig = () => ({ search: async () => null });`,
  // oclif's own spinner and debug output; ours are ora and --debug.
  'cli-spinners': `module.exports = { dots: { frames: ['.'] }, dots2: { frames: ['.'] } };`,
  // Tables are coloured by our own hand.
  '@colors/colors/safe': `module.exports = {};`,
  // For prompts in an editor; there are none. It carries the tables of a hundred character sets.
  '@inquirer/external-editor': `exports.editAsync = () => { throw new Error('no editor prompts') };`,
  debug: `module.exports = () => Object.assign(() => {}, { enabled: false });`,
};

/** Parts of packages that only one file of theirs asks for: [whose file, what it asks for, stand-in]. */
const PARTS = [
  // A command is started with its config (src/cli/boot/quick-start.ts); oclif's own runner loads the real one.
  [/@oclif\/core\/lib\/command\.js$/, './config', `exports.Config = { load: async (config) => config };`],
  // Only for oclif's --help flag, which its runner handles before flags are parsed.
  [/@oclif\/core\/lib\/flags\.js$/, './help', `exports.Help = undefined;`],
  // Our runner reports errors.
  [/@oclif\/core\/lib\/errors\/index\.js$/, './handle', `exports.handle = (error) => { throw error; };`],
  // HTTP/2 is off.
  [
    /undici\/lib\/dispatcher\/client\.js$/,
    './client-h2.js',
    `module.exports = () => { throw new Error('no HTTP/2'); };`,
  ],
  // Of http it wants the limit of its headers, which is Node's default, and to know a body that is a server's request.
  [/undici\/lib\/dispatcher\/client\.js$/, 'node:http', `exports.maxHeaderSize = 16_384;`],
  [/undici\/lib\/core\/util\.js$/, 'node:http', `exports.IncomingMessage = class {};`],
  // Its assertions are on itself and have no message.
  [
    /undici\/lib\/.*\.js$/,
    'node:assert',
    `module.exports = (fact) => { if (!fact) throw new Error('undici: assertion failed'); };`,
  ],
  // Bodies are text: no forms.
  [/undici\/lib\/dispatcher\/client-h1\.js$/, '../web/fetch/body.js', `exports.extractBody = undefined;`],
];

/**
 * harfbuzzjs compiles its WebAssembly with await at the top of a module, which no CommonJS can wait for, and the standalone
 * executable is made of that. In Node it can be compiled at once: [in which file, what, by what].
 */
const AT_ONCE = [
  ['index.mjs', 'init(await createHarfBuzz())', 'init(createHarfBuzz())'],
  ['harfbuzz.js', 'async function createHarfBuzz(', 'function createHarfBuzz('],
  [
    'harfbuzz.js',
    'const{createRequire}=await import("module")',
    'const{createRequire}=process.getBuiltinModule("module")',
  ],
  ['harfbuzz.js', 'await createWasm()', 'createWasm()'],
  ['harfbuzz.js', 'async function createWasm(', 'function createWasm('],
  [
    'harfbuzz.js',
    'await instantiateAsync(wasmBinary,wasmBinaryFile,info)',
    '{instance:new WebAssembly.Instance(new WebAssembly.Module(getBinarySync(wasmBinaryFile)),info)}',
  ],
];

async function atOnce(path) {
  let contents = await readFile(path, 'utf8');
  for (const [file, what, by] of AT_ONCE) {
    if (file !== basename(path)) continue;
    if (!contents.includes(what)) throw new Error(`${path} has no "${what}" any more`);
    contents = contents.replace(what, () => by);
  }
  return { contents };
}

/** Messages of zod in forty languages, of which the sandbox asks for none. */
const englishOnly = {
  name: 'english-only',
  setup(build) {
    build.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: '' }));
  },
};

/** esbuild plugin: the stand-ins for imports of exactly these packages from outside themselves. */
export const slim = {
  name: 'slim',
  setup(build) {
    build.onLoad({ filter: /harfbuzzjs[\\/]dist[\\/](index\.mjs|harfbuzz\.js)$/ }, ({ path }) =>
      atOnce(path),
    );
    // Only the sandbox uses the whole of zod. As one module it shares nothing with zod/mini, of which the
    // commands then load no more than they use.
    build.onResolve({ filter: /^zod$/ }, ({ path, resolveDir }) => ({
      path,
      namespace: 'one-module',
      pluginData: { resolveDir },
    }));
    build.onLoad({ filter: /.*/, namespace: 'one-module' }, async ({ path, pluginData: { resolveDir } }) => {
      const { outputFiles } = await build.esbuild.build({
        stdin: { contents: `export * from '${path}';`, resolveDir },
        bundle: true,
        format: 'esm',
        write: false,
        plugins: [englishOnly],
      });
      return { contents: outputFiles[0].text, resolveDir };
    });
    const names = Object.keys(STAND_INS).join('|');
    build.onResolve({ filter: new RegExp(`^(${names})$`) }, ({ path, resolveDir }) => ({
      path,
      namespace: 'slim',
      pluginData: { resolveDir },
    }));
    build.onResolve(
      { filter: /^(\.\.?\/(config|help|handle|client-h2\.js|web\/fetch\/body\.js)|node:(http|assert))$/ },
      ({ path, importer }) => {
        const part = PARTS.find(([file, wanted]) => file.test(importer) && wanted === path);
        return part && { path: `${importer} ${path}`, namespace: 'slim', pluginData: { contents: part[2] } };
      },
    );
    build.onLoad({ filter: /.*/, namespace: 'slim' }, ({ path, pluginData }) => ({
      contents: pluginData.contents ?? STAND_INS[path],
      loader: 'js',
      resolveDir: pluginData.resolveDir,
    }));
  },
};
