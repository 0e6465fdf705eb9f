import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import tools from './tools.json' with { type: 'json' };

/*
 * tools.json names the programs that tests use beyond Node, npm and git, and the Debian package of each. `.ci/run`
 * installs them; where one is missing, the tests that need it are skipped.
 */
const PACKAGES = { ...tools.everywhere, ...tools.whereItCanBeHad };

export type Tool = keyof typeof PACKAGES;

declare module 'vitest' {
  interface TaskMeta {
    /** The Debian packages without which the test was skipped. */
    lacks?: string[];
  }
}

/** Where a program lies, by PATH; undefined where it is not installed. */
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
 * The options of a `describe` or `it` that needs programs: it is skipped where one of them is missing, and the last
 * line of the run says which packages would bring them.
 */
export function needs(...names: readonly Tool[]): { skip: boolean; meta: { lacks?: string[] } } {
  const missing = names.filter((name) => toolPath(name) === undefined);
  const [first] = missing;
  if (first === undefined) return { skip: false, meta: {} };
  const lacks = [...new Set(missing.map((name) => PACKAGES[name]))];
  // .ci/run has installed them: a test that is skipped there would never be missed.
  if (process.env.ESIGN_ALL_TOOLS && missing.some((name) => name in tools.everywhere))
    throw new Error(`Not installed: ${lacks.join(', ')}.`);
  return { skip: true, meta: { lacks } };
}
