import { spawnSync } from 'node:child_process';

export const isWindows = process.platform === 'win32';
/** scripts/systems/unit.js says so. What is wine's own is in docs/packaging.md. */
export const isUnderWine = Boolean(process.env.ESIGN_WINE);
/** Links and named pipes, which Windows has for few or nowhere. */
export const hasLinks = !isWindows;
export const hasBash = spawnSync('bash', ['--version'], { stdio: 'ignore' }).status === 0;
