import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, parseJson } from '../../kernel/json.ts';

/** The package as it is installed. */
export interface Installation {
  /** The folder with package.json and the manifest. */
  root: string;
  /** Loads each command, by its words. */
  commands: Readonly<Record<string, () => unknown>>;
}

/** Returns the version of the package. */
export function versionOf({ root }: Installation): string {
  const file = parseJson(readFileSync(join(root, 'package.json'), 'utf8'));
  return isRecord(file) && typeof file.version === 'string' ? file.version : '';
}
