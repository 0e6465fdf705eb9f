import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, parseJson } from '../../kernel/json.ts';

/** Loads the module of a command, whose default export is its class. */
export type LoadCommand = () => Promise<{ default: unknown }>;

export interface Installation {
  /** The folder that contains package.json and the manifest. */
  root: string;
  /** Functions that load each command, by the words of its name. */
  commands: Readonly<Record<string, LoadCommand>>;
}

export function versionOf({ root }: Installation): string {
  const file = parseJson(readFileSync(join(root, 'package.json'), 'utf8'));
  return isRecord(file) && typeof file.version === 'string' ? file.version : '';
}
