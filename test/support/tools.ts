import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import tools from './tools.json' with { type: 'json' };

/*
 * tools.json names the programs that tests use in addition to Node, npm, and git, and the Debian package of each. `.ci/run`
 * installs them; if one is missing, the tests that need it are skipped.
 */
const PACKAGES = { ...tools.everywhere, ...tools.whereItCanBeHad };

export type Tool = keyof typeof PACKAGES;

declare module 'vitest' {
  interface TaskMeta {
    /** The Debian packages that the skipped tests need. */
    lacks?: string[];
  }
}

/** Returns the path of a program on the PATH; undefined if it is not installed. */
export function toolPath(name: Tool): string | undefined {
  const ending = process.platform === 'win32' ? '.exe' : '';
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, `${name}${ending}`))
    .find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the options of a `describe` or `it` that needs programs: it is skipped if one of them is missing, and the last
 * line of the run names the packages that contain them.
 */
export function needs(...names: readonly Tool[]): { skip: boolean; meta: { lacks?: string[] } } {
  const missing = names.filter((name) => toolPath(name) === undefined);
  const [first] = missing;
  if (first === undefined) return { skip: false, meta: {} };
  const lacks = [...new Set(missing.map((name) => PACKAGES[name]))];
  // .ci/run has installed them: a skipped test would go unnoticed there.
  if (process.env.ESIGN_ALL_TOOLS && missing.some((name) => name in tools.everywhere))
    throw new Error(`Not installed: ${lacks.join(', ')}.`);
  return { skip: true, meta: { lacks } };
}
