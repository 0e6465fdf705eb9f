import { dirname, join } from 'node:path';

/**
 * Returns the program and arguments that start a command. On Windows, npm is a script that only a shell can start, and the shell
 * splits arguments with spaces, so npm's JavaScript is run with Node instead.
 */
export function programOf(command, words, { platform, execPath, env } = process) {
  if (platform !== 'win32' || command !== 'npm') return [command, words];
  const { npm_execpath: running = '' } = env;
  const bundled = join(dirname(execPath), 'node_modules/npm/bin/npm-cli.js');
  return [execPath, [/npm-cli\.js$/.test(running) ? running : bundled, ...words]];
}

/**
 * Returns true if the installed packages match the lockfile. `installed` is npm's record of them,
 * node_modules/.package-lock.json, which doesn't contain packages for other systems.
 */
export function isInstalled(lock, installed) {
  const there = installed.packages ?? {};
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '') return true;
    const found = there[path];
    if (found === undefined) return wanted.optional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}
