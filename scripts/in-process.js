import { join } from 'node:path';
import { build } from 'esbuild';
import { commandStandIns } from './stand-ins.js';

const root = join(import.meta.dirname, '..');

/** The path of the bundle that contains the program as one function. */
export const IN_PROCESS_BUNDLE = join(root, 'node_modules/.cache/tests/in-process.cjs');

/**
 * Vitest's global setup for the end-to-end tests. Bundles the sources into one CommonJS file whose modules run when a command
 * first needs them, so that a test can run a command in its own process (in-process.ts).
 */
export async function setup() {
  await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // The tests evaluate it with `exports` alone.
    stdin: {
      contents: `Object.assign(exports, require('./program.ts'))`,
      resolveDir: join(root, 'src'),
      sourcefile: 'start.js',
    },
    outfile: IN_PROCESS_BUNDLE,
    define: {
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
      'import.meta.url': '__url',
    },
    supported: { 'dynamic-import': false },
    // The packages that keep no state and read no variables are loaded once per worker: evaluating them again takes a third of a
    // command's time.
    external: ['typescript', 'zod', 'zod/*', 'undici', 'undici/*'],
    plugins: [commandStandIns, imported('zod/mini')],
    logLevel: 'error',
  });
}

/** Imports a package once for all modules: esbuild would copy its exports for each one. */
function imported(name) {
  return {
    name: `import ${name} once`,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${name}$`) }, ({ namespace }) =>
        namespace === 'once' ? { path: name, external: true } : { path: name, namespace: 'once' },
      );
      onLoad({ filter: /./, namespace: 'once' }, () => ({ contents: `export * from '${name}';` }));
    },
  };
}
