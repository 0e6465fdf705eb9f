import { join } from 'node:path';
import { build } from 'esbuild';

// Explores schedules of the product's code (test/explore): npm run explore -- --actor create --kills 2 --losses 2 --lag each --seconds 300
// Each finding ends with the schedule that runs it again: npm run explore -- --schedule create:k1:0x4.2
const root = join(import.meta.dirname, '..');
const outfile = join(root, 'node_modules/.cache/tests/explore.mjs');

await build({
  absWorkingDir: root,
  entryPoints: ['test/explore/command.ts'],
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  external: ['undici', 'undici/*'],
  sourcemap: 'inline',
  outfile,
  logLevel: 'error',
});
const { main } = await import(outfile);
process.exitCode = await main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});
