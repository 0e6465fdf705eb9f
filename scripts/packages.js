import { dirname, join } from 'node:path';

/**
 * The program and the words to start a command with. npm is a script that Windows starts through a shell only, which takes
 * words with blanks apart; there it is handed to Node itself.
 */
export function programOf(command, words, { platform, execPath, env } = process) {
  if (platform !== 'win32' || command !== 'npm') return [command, words];
  const { npm_execpath: running = '' } = env;
  const beside = join(dirname(execPath), 'node_modules/npm/bin/npm-cli.js');
  return [execPath, [/npm-cli\.js$/.test(running) ? running : beside, ...words]];
}

/**
 * Whether what npm installed is what the lock file asks for. `installed` is npm's own note of it,
 * node_modules/.package-lock.json; packages for other systems are not in there.
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
