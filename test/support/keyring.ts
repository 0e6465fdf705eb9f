import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { needs } from './tools.ts';

/** For tests of a session bus and GNOME's keychain. */
export const needsKeychain = needs('dbus-run-session', 'gnome-keyring-daemon');

export interface Keyring {
  /** The environment that a process needs to find it. */
  env: { DBUS_SESSION_BUS_ADDRESS: string };
  close(): void;
}

const SCRIPT = `printf pass | gnome-keyring-daemon --unlock --components=secrets >&2
echo "$DBUS_SESSION_BUS_ADDRESS"; exec sleep 600`;

/** An unlocked keychain on a separate session bus, with its files in the folder. */
export async function startKeyring(folder: string): Promise<Keyring> {
  const child = spawn('dbus-run-session', ['--', 'bash', '-c', SCRIPT], {
    env: { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  for await (const line of createInterface(child.stdout))
    return { env: { DBUS_SESSION_BUS_ADDRESS: line.trim() }, close: () => end(child) };
  throw new Error('The session bus did not start.');
}

function end({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid);
}
