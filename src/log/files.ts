import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { ifExists } from '../kernel/files/regular-file.ts';
import { tryParseJson } from '../kernel/json.ts';

/** The hash that the first line of the first file is chained to. */
export const GENESIS = '0'.repeat(64);
export const LOG_KIND = 'esign-log';
export const LOG_VERSION = 1;

const NAME = /^log-(\d{6})\.jsonl$/;

export function logFolder(stateDir: string): string {
  return join(stateDir, 'log');
}

/** Returns the name of the file with this number, counted from 1. */
export function fileName(number: number): string {
  return `log-${String(number).padStart(6, '0')}.jsonl`;
}

/** Returns the number of a log file; 0 for any other file. */
export function fileNumber(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}

/** Returns the names of the log files, oldest first. */
export async function logFiles(folder: string): Promise<string[]> {
  const names = await ifExists(readdir(folder));
  return (names ?? []).filter((name) => NAME.test(name)).sort();
}

const headSchema = z.looseObject({
  file: z.string(),
  /** The position of the last line, in bytes. */
  start: z.number(),
  end: z.number(),
  hash: z.string(),
});
/** The last line of the log, stored next to it. If the log was shortened, it does not end with this line. */
export type Head = z.infer<typeof headSchema>;

export function headFile(folder: string): string {
  return join(folder, 'head.json');
}

/** Returns the stored head; undefined if absent, `damaged` if it is invalid. */
export async function readHead(folder: string): Promise<Head | 'damaged' | undefined> {
  const stored = await ifExists(readFile(headFile(folder), 'utf8'));
  return stored === undefined ? undefined : (headSchema.safeParse(tryParseJson(stored)).data ?? 'damaged');
}
