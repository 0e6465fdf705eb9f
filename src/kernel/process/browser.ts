import { spawn } from 'node:child_process';
import { childEnvironment } from './child-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the command that opens a URL in the user's browser, or undefined without a graphical session. */
export function browserCommand(
  url: string,
  env: Environment,
  platform: NodeJS.Platform,
): readonly [file: string, ...args: string[]] | undefined {
  if (env.BROWSER) return [env.BROWSER, url];
  if (platform === 'darwin') return ['open', url];
  // `start` uses the first quoted argument as the title, so an empty one is needed.
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', url] : undefined;
}

/** Opens the URL in the browser. Returns false if that fails. */
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
