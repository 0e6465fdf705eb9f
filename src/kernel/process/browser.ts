import { spawn } from 'node:child_process';
import { childEnvironment } from './child-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The command that opens an address in the person's browser; undefined where there is no screen to open it on. */
export function browserCommand(
  url: string,
  env: Environment,
  platform: NodeJS.Platform,
): readonly [file: string, ...args: string[]] | undefined {
  if (env.BROWSER) return [env.BROWSER, url];
  if (platform === 'darwin') return ['open', url];
  // An empty title first: start takes the first thing in quotes for one.
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', url] : undefined;
}

/** Opens it, and resolves when that is begun; false where it can't be. */
export function openInBrowser(url: string): Promise<boolean> {
  const command = browserCommand(url, process.env, process.platform);
  if (command === undefined) return Promise.resolve(false);
  const [file, ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'ignore', detached: true, env: childEnvironment() });
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
    child.unref();
  });
}
