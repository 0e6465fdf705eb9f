/*
 * Modules of packages that this program never uses but that slow down every start, and their replacements in the bundle
 * (docs/decisions/0008): [importing file, import, replacement]. test/e2e/stand-ins.test.ts checks on the bundle that nothing
 * needs them.
 */
/** For modules that are never used. Any access throws an error with the module's name. */
const unreached = (name) => `
  const fail = () => { throw new Error('${name} was left out of the bundle'); };
  module.exports = new Proxy(fail, { get: (_, part) => (part === '__esModule' ? true : fail()) });`;

/** For the file that every command loads. */
const FIRST = [
  // A command is started with its config (src/cli/boot/quick-start.ts); oclif's runner, which loads one, starts none.
  [/@oclif\/core\/lib\/command\.js$/, './config', unreached('config')],
  // Only for oclif's --help flag, which its runner handles before flags are parsed.
  [/@oclif\/core\/lib\/flags\.js$/, './help', unreached('help')],
  // It warns of deprecated commands and flags. We don't have any.
  [/@oclif\/core\/lib\/command\.js$/, './help/util', unreached('help/util')],
  // Output is written by output/terminal.ts.
  [/@oclif\/core\/lib\/command\.js$/, './ux', unreached('ux')],
  // Arguments are never read from stdin by oclif: each says ignoreStdin.
  [/@oclif\/core\/lib\/parser\/parse\.js$/, 'node:readline', unreached('readline')],
  // No flag of ours is a file or a folder that oclif looks for.
  [/@oclif\/core\/lib\/util\/fs\.js$/, 'node:fs/promises', unreached('fs/promises')],
  // For help alone, whose own code has it.
  [/@oclif\/core\/lib\/parser\/index\.js$/, './help', unreached('parser/help')],
  // With DEBUG set, oclif prints a lot that our users don't need.
  [/@oclif\/core\/lib\/logger\.js$/, 'debug', unreached('debug')],
  // Errors are worded, colored and wrapped by report.ts.
  [/@oclif\/core\/lib\/parser\/errors\.js$/, '../ux/theme', `exports.colorize = (_, text) => text;`],
  [/@oclif\/core\/lib\/errors\/errors\/cli\.js$/, '../../ux/theme', unreached('ux/theme')],
  [/@oclif\/core\/lib\/errors\/errors\/(cli|pretty-print)\.js$/, 'wrap-ansi', unreached('wrap-ansi')],
  [/@oclif\/core\/lib\/errors\/errors\/cli\.js$/, 'clean-stack', unreached('clean-stack')],
  // Our runner reports errors.
  [/@oclif\/core\/lib\/errors\/index\.js$/, './handle', unreached('errors/handle')],
  // HTTP/2 is off.
  [/undici\/lib\/dispatcher\/client\.js$/, './client-h2.js', unreached('HTTP/2')],
  // Of http it wants the limit of its headers, which is Node's default, and to know a body that is a server's request.
  [/undici\/lib\/dispatcher\/client\.js$/, 'node:http', `exports.maxHeaderSize = 16_384;`],
  [/undici\/lib\/core\/util\.js$/, 'node:http', `exports.IncomingMessage = class {};`],
  // Its assertions are on itself.
  [
    /undici\/lib\/.*\.js$/,
    'node:assert',
    `module.exports = (fact) => { if (!fact) throw new Error('undici: assertion failed'); };`,
  ],
  // Bodies are text: no forms.
  [/undici\/lib\/dispatcher\/client-h1\.js$/, '../web/fetch/body.js', unreached('fetch/body')],
];

/** For what is loaded late: of the size of the package only. */
const LATE = [
  // For prompts in an editor, which we don't use. It contains the tables of a hundred character sets.
  [
    /@inquirer\/editor\/.*\.js$/,
    '@inquirer/external-editor',
    `exports.editAsync = () => { throw new Error('no editor prompts'); };`,
  ],
  // It checks answers of a client, of which none is asked for; what tools are given is checked by zod.
  [
    /@modelcontextprotocol\/server\/dist\/.*\.mjs$/,
    '@modelcontextprotocol/server/_shims',
    `export { default as process } from 'node:process';
    export class DefaultJsonSchemaValidator { getValidator() { throw new Error('ajv was left out of the bundle'); } }`,
  ],
  // conf's writer of files listens for signals with it and ends the process before a clean stop; on Windows immediately. Its
  // drafts are removed by kernel/files.
  [/atomically\/dist\/.*\.js$/, 'when-exit', 'export default () => () => {};'],
  // The AWS SDK tries MD5 when it is loaded, which nothing may do in FIPS mode. Without it, it has its own.
  [
    /@smithy\/core\/dist-es\/submodules\/checksum\/md5\/Md5Node\.js$/,
    'node:crypto',
    `export const createHash = () => { throw new Error('MD5 was left out of the bundle'); };`,
  ],
  // Messages in forty languages, of which the sandbox asks for none.
  [/zod\/v4\/(classic\/external|core\/index)\.js$/, '../locales/index.js', 'export {};'],
];

export const firstStandIns = plugin(FIRST);
export const lateStandIns = plugin(LATE);

/** An esbuild plugin. It fails where a stand-in is not asked for any more. */
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
          throw new Error(`Nothing asks for these any more: ${left.join(', ')}`);
      });
    },
  };
}
