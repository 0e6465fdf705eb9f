#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const argv = process.argv.slice(2);
const [first, ...rest] = argv;
const ready = readyAnswer();

if (ready !== undefined) process.stdout.write(ready);
else if (existsSync(join(root, 'dist/cli/main.js'))) {
  // From Node 22 on. Where the folder can't be used, nothing is kept and nothing else changes.
  if (!process.env.NODE_COMPILE_CACHE) module.enableCompileCache?.(cacheFolder());
  if (first === '__complete') {
    // Completion answers at each Tab: nothing of oclif is loaded for it.
    const { main } = await import('../dist/cli/complete.js');
    await main(rest, root);
  } else if (first === '__update') {
    const { main } = await import('../dist/cli/update-check.js');
    await main();
  } else {
    const { main } = await import('../dist/cli/main.js');
    await main(argv, root);
  }
} else {
  process.stderr.write(
    'esign is not built yet. Run `npm run build` first, or `npm run demo` to see it all.\n',
  );
  process.exitCode = 1;
}

/** The version, and a page of help for a pipe, which the build has written already. */
function readyAnswer() {
  if (/^(--version|-V)$/.test(argv.join(' '))) {
    const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return `${name}/${version} ${process.platform}-${process.arch} node-${process.version}\n`;
  }
  const words = argv.filter((word) => word !== '--help' && word !== '-h');
  const plain = words.every((word) => /^[a-z-]+$/.test(word) && !word.startsWith('-'));
  if (words.length === argv.length || !plain || isatty(1)) return undefined;
  if (process.env.FORCE_COLOR || process.env.OCLIF_COLUMNS) return undefined;
  const page = join(root, 'dist/help', `${words.join(' ') || 'esign'}.txt`);
  return existsSync(page) ? readFileSync(page, 'utf8') : undefined;
}

function cacheFolder() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (process.platform === 'win32') return join(LOCALAPPDATA || homedir(), 'esign', 'cache');
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'esign');
}
