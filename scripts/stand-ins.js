import { readFile } from 'node:fs/promises';

/*
 * Package modules that this program never uses but that slow down every start, and their replacements in the bundle
 * (docs/contributing/decisions/0008): [importing file, import, replacement]. A replacement that is used after all
 * throws an error with the module's name.
 */
/** For modules that are never used. Any access throws an error with the module's name. */
const unreached = (name) => `
  const fail = () => { throw new Error('${name} was left out of the bundle'); };
  module.exports = new Proxy(fail, { get: (_, part) => (part === '__esModule' ? true : fail()) });`;

/** Replacements in the file that every command loads. */
const FIRST = [
  // Commands are started with a config (src/cli/main.ts), not by oclif's runner, which would load one.
  [/@oclif\/core\/lib\/command\.js$/, './config', unreached('config')],
  // Only for oclif's --help flag, which its runner handles before flags are parsed.
  [/@oclif\/core\/lib\/flags\.js$/, './help', unreached('help')],
  // It warns about deprecated commands and flags, which we don't have.
  [/@oclif\/core\/lib\/command\.js$/, './help/util', unreached('help/util')],
  // Output is written by output/terminal.ts.
  [/@oclif\/core\/lib\/command\.js$/, './ux', unreached('ux')],
  // oclif never reads arguments from stdin, because each one sets ignoreStdin.
  [/@oclif\/core\/lib\/parser\/parse\.js$/, 'node:readline', unreached('readline')],
  // None of our flags is a file or folder whose existence oclif checks.
  [/@oclif\/core\/lib\/util\/fs\.js$/, 'node:fs/promises', unreached('fs/promises')],
  // It is only for help, which has its own copy.
  [/@oclif\/core\/lib\/parser\/index\.js$/, './help', unreached('parser/help')],
  // With DEBUG set, oclif prints a lot that our users don't need.
  [/@oclif\/core\/lib\/logger\.js$/, 'debug', unreached('debug')],
  // error-report.ts words, colors, and wraps errors.
  [/@oclif\/core\/lib\/parser\/errors\.js$/, '../ux/theme', `exports.colorize = (_, text) => text;`],
  [/@oclif\/core\/lib\/errors\/errors\/cli\.js$/, '../../ux/theme', unreached('ux/theme')],
  [/@oclif\/core\/lib\/errors\/errors\/(cli|pretty-print)\.js$/, 'wrap-ansi', unreached('wrap-ansi')],
  [/@oclif\/core\/lib\/errors\/errors\/cli\.js$/, 'clean-stack', unreached('clean-stack')],
  // Our runner reports errors.
  [/@oclif\/core\/lib\/errors\/index\.js$/, './handle', unreached('errors/handle')],
  // HTTP/2 is off.
  [/undici\/lib\/dispatcher\/client\.js$/, './client-h2.js', unreached('HTTP/2')],
  // From http, undici needs only the header size limit (Node's default), and a class to recognize a server's request as a body.
  [/undici\/lib\/dispatcher\/client\.js$/, 'node:http', `exports.maxHeaderSize = 16_384;`],
  [/undici\/lib\/core\/util\.js$/, 'node:http', `exports.IncomingMessage = class {};`],
  // undici's assertions check only its own state.
  [
    /undici\/lib\/.*\.js$/,
    'node:assert',
    `module.exports = (fact) => { if (!fact) throw new Error('undici: assertion failed'); };`,
  ],
  // Bodies are text, never forms.
  [/undici\/lib\/dispatcher\/client-h1\.js$/, '../web/fetch/body.js', unreached('fetch/body')],
];

/** Replacements in code that is loaded late. They only reduce the size of the package. */
const LATE = [
  // It validates the client's responses, which we never request. zod validates the arguments of tools.
  [
    /@modelcontextprotocol\/server\/dist\/.*\.mjs$/,
    '@modelcontextprotocol/server/_shims',
    `export { default as process } from 'node:process';
    export class DefaultJsonSchemaValidator { getValidator() { throw new Error('ajv was left out of the bundle'); } }`,
  ],
  // conf's file writer uses it to listen for signals and ends the process before it can stop cleanly, on Windows immediately.
  // kernel/files removes its temporary files.
  [/atomically\/dist\/.*\.js$/, 'when-exit', 'export default () => () => {};'],
  // The AWS SDK tries MD5 when it is loaded, which isn't allowed in FIPS mode. If that fails, it uses its own implementation.
  [
    /@smithy\/core\/dist-es\/submodules\/checksum\/md5\/Md5Node\.js$/,
    'node:crypto',
    `export const createHash = () => { throw new Error('MD5 was left out of the bundle'); };`,
  ],
  // Messages in forty languages, which the sandbox doesn't use.
  [/zod\/v4\/(classic\/external|core\/index)\.js$/, '../locales/index.js', 'export {};'],
];

/** How undici ends a connection on which a server sends 100 (Continue) unasked, as RFC 9110, section 15.2, allows. */
const REFUSES_CONTINUE = /\n {4}if \(statusCode === 100\) \{[^}]*\}\n/;

/** Makes undici ignore 100 (Continue), as it ignores 102 and 103. */
export const acceptContinue = {
  name: 'accept-continue',
  setup({ onLoad }) {
    onLoad({ filter: /undici\/lib\/dispatcher\/client-h1\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (!REFUSES_CONTINUE.test(source)) throw new Error(`${path} no longer refuses 100 (Continue)`);
      return { contents: source.replace(REFUSES_CONTINUE, '\n') };
    });
  },
};

export const firstStandIns = plugin(FIRST);
/** For a bundle in which help uses the same copy of oclif as the commands. */
export const commandStandIns = plugin(FIRST.filter(([whose]) => whose.test('@oclif/core/lib/command.js')));
export const lateStandIns = plugin(LATE);

/** Creates an esbuild plugin. The build fails if a stand-in is no longer imported. */
function plugin(standIns) {
  return {
    name: 'stand-ins',
    setup({ onResolve, onLoad, onEnd }) {
      const unused = new Set(standIns);
      const wanted = [...new Set(standIns.map(([, what]) => what.replaceAll('.', '\\.')))];
      onResolve({ filter: new RegExp(`^(${wanted.join('|')})$`) }, ({ path, importer }) => {
        const of = importer.replaceAll('\\', '/');
        const found = standIns.find(([whose, what]) => what === path && whose.test(of));
        unused.delete(found);
        return found && { path: `${importer} ${path}`, namespace: 'stand-in', pluginData: found[2] };
      });
      onLoad({ filter: /./, namespace: 'stand-in' }, ({ pluginData }) => ({ contents: pluginData }));
      onEnd(({ errors }) => {
        const left = [...unused].map(([whose, what]) => `${what} of ${whose.source}`);
        if (errors.length === 0 && left.length > 0)
          throw new Error(`Nothing imports these anymore: ${left.join(', ')}`);
      });
    },
  };
}
