import { closeSync, constants, existsSync, fstatSync, readSync, writeSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { makeFolder } from '../kernel/files/folder.ts';
import { lockFile } from '../kernel/files/lock.ts';
import { openRegular, readRegularBytes } from '../kernel/files/regular-file.ts';
import { replaceFile } from '../kernel/files/replace-file.ts';
import { tryParseJson } from '../kernel/json.ts';
import { DOCUMENT } from './api-document.ts';
import { LOCAL, recordFolder, recordPrefix } from './record-path.ts';
import type { Fact } from './tally.ts';

const FORMAT = 1;
const MAX_BYTES = 256 * 1024;
/** A longer file is rewritten instead of appended to. */
const MAX_APPENDED_BYTES = MAX_BYTES / 2;
const FIRST_BYTES = Buffer.from(`{"format":${FORMAT},`);
/** The maximum numbers of forms. Undocumented ones have a lower limit, so that there is always room for documented ones. */
const MAX_FORMS = 1_000;
const MAX_UNDOCUMENTED_FORMS = 600;
/** The maximum number of records of services on this machine. */
const MAX_LOCAL = 20;
/** How long to wait for another process that is writing its facts, in ms. */
const LOCK_WAIT_MS = 2_000;

const formSchema = z.object({
  times: z.int().check(z.positive()),
  since: z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)),
  in: z.array(z.string()),
});
const recordSchema = z.object({
  format: z.literal(FORMAT),
  places: z.record(z.string(), z.record(z.string(), formSchema)),
});
const newerSchema = z.object({ format: z.int().check(z.gt(FORMAT)) });

/** A form of a place: the number of responses, the time it was first seen, and the operations. */
export type SeenForm = z.infer<typeof formSchema>;
/** The forms by place, such as `Envelope.status`, and by form, such as `=SENT`. */
export type Places = Map<string, Map<string, SeenForm>>;

/** Reads a record. If it is missing or unreadable, it is empty. `newer` means that a newer version wrote it. */
export async function readRecord(path: string): Promise<Places | 'newer'> {
  const bytes = await readRegularBytes(path, { maxBytes: MAX_BYTES + 1 }).catch(() => undefined);
  const places: Places = new Map();
  for (const line of bytes?.toString('utf8').split('\n') ?? []) {
    const value = tryParseJson(line);
    if (newerSchema.safeParse(value).success) return 'newer';
    for (const [place, forms] of Object.entries(recordSchema.safeParse(value).data?.places ?? {}))
      for (const [form, seen] of Object.entries(forms)) addForm(places, place, form, seen);
  }
  return places;
}

/**
 * Adds facts to a record. Usually they are appended as a line of their own, because every command does this. A long file is
 * rewritten as a single line, one process at a time; a line that is appended at that moment is lost.
 * @throws an error of the disk, or if another process holds the lock.
 */
export async function addToRecord(path: string, facts: readonly Fact[]): Promise<void> {
  const places: Places = new Map();
  for (const { place, form, operation, times, since } of facts) {
    const second = `${new Date(since).toISOString().slice(0, 19)}Z`;
    addForm(places, place, form, { times, since: second, in: [operation] });
  }
  if (!appendTo(path, places)) await rewrite(path, places);
}

/** Appends a line. Returns false if the file is missing, long, or of another format. */
function appendTo(path: string, places: Places): boolean {
  const file = openRegular(path, constants.O_RDWR | constants.O_APPEND);
  if (file === undefined) return false;
  try {
    const start = Buffer.alloc(FIRST_BYTES.length);
    readSync(file, start, 0, start.length, 0);
    // The line break ends a line that another process left incomplete.
    const line = Buffer.from(`\n${textOf(places)}`);
    if (!start.equals(FIRST_BYTES) || fstatSync(file).size + line.length > MAX_APPENDED_BYTES) return false;
    writeSync(file, line);
    return true;
  } finally {
    closeSync(file);
  }
}

async function rewrite(path: string, added: Places): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const taken = (pid: string) => new Error(`process ${pid} is writing ${path}`);
  const release = await lockFile(`${path}.lock`, taken, { waitMs: LOCK_WAIT_MS });
  try {
    const places = await readRecord(path);
    if (places === 'newer') return;
    for (const [place, forms] of added) for (const [form, seen] of forms) addForm(places, place, form, seen);
    const text = textOf(places);
    if (Buffer.byteLength(text) > MAX_BYTES) return;
    const isNew = !existsSync(path);
    replaceFile(path, text);
    if (isNew && path.endsWith(LOCAL)) await removeOldest(dirname(path));
  } finally {
    await release();
  }
}

function textOf(places: Places): string {
  const entries = [...places].map(([place, forms]): [string, unknown] => [place, Object.fromEntries(forms)]);
  return JSON.stringify({ format: FORMAT, places: Object.fromEntries(entries) });
}

/** Deletes the oldest local records. Sandboxes on random ports would otherwise leave a record each. */
async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(LOCAL));
  if (names.length <= MAX_LOCAL) return;
  const paths = names.map((name) => join(folder, name));
  const dated = await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  dated.sort((a, b) => b.at - a.at);
  for (const { path } of dated.slice(MAX_LOCAL)) await rm(path, { force: true });
}

/** Adds a form to those of its place. An undocumented one is left out if there are too many. */
function addForm(
  places: Places,
  place: string,
  form: string,
  { times, since, in: operations }: SeenForm,
): void {
  const forms = places.get(place) ?? new Map<string, SeenForm>();
  const seen = forms.get(form);
  if (seen !== undefined) {
    seen.times += times;
    for (const operation of operations) if (!seen.in.includes(operation)) seen.in.push(operation);
    return;
  }
  const count = [...places.values()].reduce((sum, { size }) => sum + size, 0);
  if (count >= (isDocumented(place) ? MAX_FORMS : MAX_UNDOCUMENTED_FORMS)) return;
  forms.set(form, { times, since, in: [...operations] });
  places.set(place, forms);
}

function isDocumented(place: string): boolean {
  const at = place.lastIndexOf('.');
  const properties = DOCUMENT.objects[place.slice(0, Math.max(0, at))];
  return properties === undefined ? !place.includes('*') : Object.hasOwn(properties, place.slice(at + 1));
}

export async function removeRecordsOf(stateDir: string, profile: string): Promise<void> {
  const folder = recordFolder(stateDir);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(recordPrefix(profile))))
    await rm(join(folder, name), { force: true });
}
