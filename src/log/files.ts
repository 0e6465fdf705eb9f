import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists } from '../kernel/files/regular-file.ts';

const NAME = /^\d{4}-\d{2}\.jsonl$/;

export function logFolder(stateDir: string): string {
  return join(stateDir, 'log');
}

/** Returns the name of the file for a time (ms): one per month. */
export function fileNameAt(time: number): string {
  return `${new Date(time).toISOString().slice(0, 7)}.jsonl`;
}

/** Returns the names of the log files, oldest first. */
export async function logFiles(folder: string): Promise<string[]> {
  const names = await ifExists(readdir(folder));
  return (names ?? []).filter((name) => NAME.test(name)).sort();
}
