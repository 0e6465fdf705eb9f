import { spawnSync } from 'node:child_process';

export const isWindows = process.platform === 'win32';
/** Links and named pipes, which Windows supports partly or not at all. */
export const hasLinks = !isWindows;
export const hasBash = spawnSync('bash', ['--version'], { stdio: 'ignore' }).status === 0;
