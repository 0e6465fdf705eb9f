import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord, parseJson } from '../../kernel/json.ts';

/** Where the program's own parts are: in a folder, or inside one executable. */
export interface Installation {
  /** The folder with package.json and the manifest, for what oclif reads by itself. */
  root(): string;
  version(): string;
  /** Loads the command with these words, if there is one. */
  command(words: readonly string[]): (() => Promise<unknown>) | undefined;
}

/** The package as npm installs it. */
export function folderInstallation(root: string): Installation {
  return {
    root: () => root,
    version: () => versionIn(readFileSync(join(root, 'package.json'), 'utf8')),
    command: (words) => {
      const path = `${join(root, 'dist', 'commands', ...words)}.js`;
      return existsSync(path) ? () => import(pathToFileURL(path).href) : undefined;
    },
  };
}

/** The version that a package.json names. */
export function versionIn(packageJson: string): string {
  const file = parseJson(packageJson);
  return isRecord(file) && typeof file.version === 'string' ? file.version : '';
}
