import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { codeOf, UsageError } from '../../kernel/errors.ts';
import { privateFolder, writeFileAtomic } from '../../kernel/files/files.ts';
import { lockFile } from '../../kernel/files/lock.ts';
import { parseJson } from '../../kernel/json.ts';

const LOCK_WAIT_MS = 10_000;

const pinSchema = z.object({
  profile: z.string(),
  baseUrl: z.string(),
  /** The SHA-256 of the signer's certificate, in hex. */
  fingerprint: z.string(),
  subject: z.string(),
  /** ISO 8601 */
  since: z.string(),
});
const fileSchema = z.object({ pins: z.array(pinSchema) });

/** The fingerprint of a seal: the first one seen with a profile, or one accepted later. */
export type Pin = z.infer<typeof pinSchema>;

/** The origin of documents. A pin is valid for one profile and base URL only. */
export type Origin = Pick<Pin, 'profile' | 'baseUrl'>;

/** Returns the pins in the state folder, oldest first. @throws UsageError if the file can't be read; it is never overwritten */
export async function readPins(folder: string): Promise<Pin[]> {
  const path = pathIn(folder);
  try {
    return fileSchema.parse(parseJson(await readFile(path, 'utf8'))).pins;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw new UsageError(`The pinned seals file ${path} can't be read. It was left unchanged.`, {
      hint: 'Fix it, or move it out of the way. The next download will pin the seal again.',
    });
  }
}

export function pinnedFor(pins: readonly Pin[], origin: Origin): string[] {
  return pins.filter((pin) => isFrom(pin, origin)).map(({ fingerprint }) => fingerprint);
}

/** Pins the first seal of an origin, unless one is already pinned. Returns all pins. */
export function pinFirst(folder: string, pin: Pin): Promise<Pin[]> {
  return change(folder, (pins) => (pins.some((one) => isFrom(one, pin)) ? pins : [...pins, pin]));
}

/** Pins another seal of an origin, for example after a certificate was renewed. */
export function acceptPin(folder: string, pin: Pin, options?: ChangeOptions): Promise<Pin[]> {
  const isSame = (one: Pin) => isFrom(one, pin) && one.fingerprint === pin.fingerprint;
  return change(folder, (pins) => (pins.some(isSame) ? pins : [...pins, pin]), options);
}

/** Removes pins of an origin by fingerprint or its start, with or without colons. */
export function forgetPins(
  folder: string,
  origin: Origin,
  fingerprint: string,
  options?: ChangeOptions,
): Promise<Pin[]> {
  const start = fingerprint.replaceAll(':', '').toLowerCase();
  const isNamed = (one: Pin) => isFrom(one, origin) && start !== '' && one.fingerprint.startsWith(start);
  return change(folder, (pins) => pins.filter((one) => !isNamed(one)), options);
}

interface ChangeOptions {
  /** Whether to return the result without storing it. */
  isDryRun?: boolean | undefined;
}

async function change(
  folder: string,
  edit: (pins: Pin[]) => Pin[],
  { isDryRun = false }: ChangeOptions = {},
): Promise<Pin[]> {
  if (isDryRun) return edit(await readPins(folder));
  await privateFolder(folder);
  const taken = (pid: string) =>
    new UsageError(`Another esign process (${pid}) is changing the pinned seals.`, { hint: 'Try again.' });
  const release = await lockFile(`${pathIn(folder)}.lock`, taken, { waitMs: LOCK_WAIT_MS });
  try {
    const before = await readPins(folder);
    const after = edit(before);
    if (after !== before)
      await writeFileAtomic(pathIn(folder), `${JSON.stringify({ pins: after }, null, 2)}\n`);
    return after;
  } finally {
    await release();
  }
}

function isFrom(one: Origin, { profile, baseUrl }: Origin): boolean {
  return one.profile === profile && one.baseUrl === baseUrl;
}

function pathIn(folder: string): string {
  return join(folder, 'seals.json');
}
