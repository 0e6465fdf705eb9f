import { spawnSync } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { vi } from 'vitest';

export const isWindows = process.platform === 'win32';
/** Links and named pipes, which Windows supports partly or not at all. */
export const hasLinks = !isWindows;
export const hasBash = spawnSync('bash', ['--version'], { stdio: 'ignore' }).status === 0;
export const isRoot = process.geteuid?.() === 0;

/** Makes a file another user's; without root, by making this process somebody else's until the end of the test. */
export async function giveAway(path: string): Promise<void> {
  if (isRoot) await chown(path, OTHER_USER, OTHER_USER);
  else vi.spyOn(process, 'geteuid').mockReturnValue(OTHER_USER);
}
const OTHER_USER = 4_321;
