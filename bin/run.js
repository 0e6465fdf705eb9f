#!/usr/bin/env node
// This is CommonJS, which Node starts faster than an ES module (docs/contributing/decisions/0008).
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');

function start(argv) {
  if (process.getBuiltinModule === undefined)
    return fail(`esign needs Node 20.19, 22.3, or newer. This is ${process.version}.`);
  const output = prebuiltOutput(argv);
  if (output !== undefined) {
    process.stdout.on('error', onWriteError);
    return process.stdout.write(output);
  }
  if (!existsSync(join(root, 'dist/program/esign.cjs')))
    return fail('esign is not built yet. Run `npm run build`, or `npm run demo` for a tour.');
  // Node 20 has no compile cache. If the folder can't be used, nothing is cached.
  const { enableCompileCache } = require('node:module');
  if (enableCompileCache !== undefined && !process.env.NODE_COMPILE_CACHE) {
    const folder = require('../dist/program/paths.cjs').cacheDir();
    if (folder !== undefined) enableCompileCache(folder);
  }
  return run(argv);
}

function run(argv) {
  const program = require('../dist/program/esign.cjs');
  const [first, ...rest] = argv;
  // Completion runs on every Tab, so it doesn't load oclif.
  if (first === '__complete') return program.complete(rest, root);
  return program.main(argv, root);
}

/** Returns the version, or prebuilt help if stdout is a pipe. */
function prebuiltOutput(argv) {
  const request = argv.filter((word) => word !== '--json').join(' ');
  if (/^(--version|-V|-v|version)$/.test(request)) {
    const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const about = [`${process.platform}-${process.arch}`, process.version, installedBy()];
    if (argv.includes('--json'))
      return `${JSON.stringify({ name, version, platform: about[0], node: about[1], installedBy: about[2] })}\n`;
    return `${name}/${version} ${about[0]} node-${about[1]} ${about[2]}\n`;
  }
  const words = argv.filter((word) => word !== '--help' && word !== '-h');
  const plain = words.every((word) => /^[a-z-]+$/.test(word) && !word.startsWith('-'));
  if (words.length === argv.length || !plain || require('node:tty').isatty(1)) return undefined;
  // Multi-line examples use the line continuation of the system's shell.
  if (process.platform === 'win32' || process.env.FORCE_COLOR || process.env.OCLIF_COLUMNS) return undefined;
  const page = join(root, 'dist/help', `${words.join(' ') || 'esign'}.txt`);
  return existsSync(page) ? readFileSync(page, 'utf8') : undefined;
}

/** Returns how esign was installed, which decides how it is upgraded. */
function installedBy() {
  if (require('node:sea').isSea()) return 'executable';
  return /\/node_modules\/[^/]+$/.test(root.replaceAll('\\', '/')) ? 'npm' : 'source';
}

/** Ignores a closed pipe. */
function onWriteError({ code, message }) {
  if (code !== 'EPIPE')
    fail(`Error: Can't write the output: ${code === 'ENOSPC' ? 'the disk is full' : message}.`);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}

start(process.argv.slice(2));
