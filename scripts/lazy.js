import { readFile } from 'node:fs/promises';
import { builtinModules, isBuiltin } from 'node:module';

/*
 * What a file asks for at its top is loaded whether it is used or not. The start of a command is made of such costs
 * (docs/decisions/0008), so the bundle asks for them when they are used.
 */

/** Node's own modules that few runs use and that take a millisecond or more: each function loads its module when called. */
const LATE = new Set([
  'node:child_process',
  'node:crypto',
  'node:fs/promises',
  'node:readline',
  'node:readline/promises',
  'node:v8',
]);

const IMPORT = /import\s*(\{[^}]*\}|\*\s*as\s+[\w$]+|[\w$]+)\s*from\s*["']([a-z0-9_:/]+)["'];?/g;

/**
 * A file's text with its imports of Node's own modules replaced. An import makes all lazy parts of such a module at once
 * (fs has streams, util half of Node); asking for the module makes only those that are named.
 * @param {string} text
 * @returns {string}
 */
export function lateBuiltins(text) {
  return text.replace(IMPORT, (whole, names, from) => {
    if (!isBuiltin(from)) return whole;
    const id = from.startsWith('node:') ? from : `node:${from}`;
    const load = `process.getBuiltinModule(${JSON.stringify(id)})`;
    if (!names.startsWith('{')) return `const ${names.replace(/^\*\s*as\s+/, '')}=${load};`;
    const pairs = names
      .slice(1, -1)
      .split(',')
      .filter((one) => one.trim() !== '')
      .map((one) => one.trim().split(/\s+as\s+/));
    if (LATE.has(id) && pairs.every(([name]) => isPlainFunction(id, name)))
      return `const ${pairs.map(([name, as = name]) => `${as}=(...words)=>${load}.${name}(...words)`).join(',')};`;
    return `const {${pairs.map(([name, as = name]) => `${name}:${as}`).join(',')}}=${load};`;
  });
}

/** Neither a class, which has to be there to be extended or constructed, nor an object. */
function isPlainFunction(id, name) {
  return typeof process.getBuiltinModule(id)[name] === 'function' && /^[a-z]/.test(name);
}

/** esbuild plugin: CommonJS packages get Node's own modules without a `require` of their own. */
export const ownBuiltins = {
  name: 'own-builtins',
  setup(build) {
    const names = builtinModules.map((name) => name.replace(/[/]/g, '\\/')).join('|');
    build.onResolve({ filter: new RegExp(`^(node:)?(${names})$`) }, ({ path, kind }) =>
      kind === 'require-call'
        ? { path: path.replace(/^(node:)?/, 'node:'), namespace: 'own-builtin' }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'own-builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** TypeScript's own way to write an import in CommonJS; nobody else uses such names. */
const REQUIRE = /^const (\w+_\d+) = ((?:__import(?:Default|Star)\()?require\("[^"]+"\)\)?);$/gm;

/** esbuild plugin: oclif loads each of its parts when it is first used. */
export const lateRequires = {
  name: 'late-requires',
  setup(build) {
    build.onLoad({ filter: /@oclif[\\/]core[\\/]lib[\\/].*\.js$/ }, async ({ path }) => ({
      contents: late(await readFile(path, 'utf8')),
    }));
  },
};

function late(text) {
  const names = [...text.matchAll(REQUIRE)].map(([, name]) => name);
  if (names.length === 0) return text;
  // In parentheses, for `new x_1.Y()`.
  return text
    .replace(REQUIRE, (_, name, what) => `let ${name}$;const ${name}$load = () => (${name}$ ??= ${what});`)
    .replace(new RegExp(`\\b(${names.join('|')})\\b(?![$])`, 'g'), '($1$load())');
}
