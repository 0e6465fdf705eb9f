#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
if (existsSync(new URL('../dist/cli/main.js', import.meta.url))) {
  const [first, ...rest] = process.argv.slice(2);
  if (first === '__complete') {
    // Completion answers at each Tab: nothing of oclif is loaded for it.
    const { main } = await import('../dist/cli/complete.js');
    await main(rest, root);
  } else {
    const { main } = await import('../dist/cli/main.js');
    await main(process.argv.slice(2), root);
  }
} else {
  process.stderr.write(
    'esign is not built yet. Run `npm run build` first, or `npm run demo` to see it all.\n',
  );
  process.exitCode = 1;
}
