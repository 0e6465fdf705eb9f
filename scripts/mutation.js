import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled } from './ensure.js';
import { runScript } from './vitest.js';

// Makes one small change to the sources at a time and runs the unit tests. A change that no test detects could also be made by
// mistake. An area of test/nightly/mutation/areas.json fails if the tests detect less than 90% of its changes;
// coverage/mutation-AREA.json lists every change. npm run test:mutation [-- AREA…]
const root = join(import.meta.dirname, '..');
const folder = join(root, 'test', 'mutation');

// Some tests sign documents, which needs the fonts of the build.
await ensureBuilt();
// Installed in a separate folder, because it isn't needed to build, test, or use the CLI. It uses the project's Vitest.
await ensureInstalled(folder, 'Installing Stryker');
const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const areas = JSON.parse(readFileSync(join(folder, 'areas.json'), 'utf8'));
const chosen = process.argv.slice(2);
const unknown = chosen.filter((area) => !(area in areas));
if (unknown.length > 0) throw new Error(`No such area: ${unknown.join(', ')}. Areas: ${Object.keys(areas)}`);
for (const area of chosen.length > 0 ? chosen : Object.keys(areas)) {
  process.stdout.write(`\nArea ${area}\n`);
  const args = [stryker, 'run', 'test/nightly/mutation/stryker.config.mjs'];
  if ((await runScript(args, { ...process.env, MUTATION_AREA: area })) !== 0) process.exitCode = 1;
}
