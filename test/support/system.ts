import { spawnSync } from 'node:child_process';

export const isWindows = process.platform === 'win32';
/** Set by scripts/systems/unit.js. Wine's own behavior is described in docs/packaging.md. */
export const isUnderWine = Boolean(process.env.ESIGN_WINE);
/** Links and named pipes, which Windows supports partly or not at all. */
export const hasLinks = !isWindows;
export const hasBash = spawnSync('bash', ['--version'], { stdio: 'ignore' }).status === 0;
