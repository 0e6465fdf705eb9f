import { closeSync, constants, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import * as z from 'zod/mini';
import { startMd5 } from '../../kernel/digest.ts';
import { readRegular } from '../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import { CHECKSUM_ALGORITHMS, type ObjectFacts } from '../bucket/object.ts';

/*
 * `NAME.part.json`: the first line identifies the object in `NAME.part`. If nothing in the bucket's response proves the content, the
 * following lines are checkpoints of the bytes received so far.
 */

const { O_RDONLY, O_WRONLY, O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** The identity of the object in a part file. */
export interface PartOf {
  bucket: string;
  key: string;
}

const objectSchema = z.object({
  key: z.string(),
  bucket: z.string(),
  size: z.number(),
  etag: z.string(),
  md5: z.optional(z.string()),
  checksum: z.optional(z.object({ algorithm: z.enum(CHECKSUM_ALGORITHMS), value: z.string() })),
});
/** The length and hash of the first bytes, as received from the bucket. */
const checkpointSchema = z.object({ bytes: z.number(), sha256: z.string() });

export function partRecordPath(partPath: string): string {
  return `${partPath}.json`;
}

/** Starts a new note. Removes any existing file of that name first, so that nothing is written through a link. */
export function writePartRecord(
  partPath: string,
  of: PartOf,
  { size, etag, md5, checksum }: ObjectFacts,
): void {
  const text = JSON.stringify({ ...of, size, etag, md5, checksum });
  rmSync(partRecordPath(partPath), { force: true });
  writeFileSync(partRecordPath(partPath), `${text}\n`, { mode: 0o600, flag: 'wx' });
}

export function writeCheckpoint(partPath: string, checkpoint: z.infer<typeof checkpointSchema>): void {
  const file = openSync(partRecordPath(partPath), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  try {
    writeSync(file, `${JSON.stringify(checkpoint)}\n`);
  } finally {
    closeSync(file);
  }
}

/** Reads the note. Returns undefined if it is missing, unreadable, or about another object. */
export async function readPartRecord(partPath: string, of: PartOf) {
  const text = await readRegular(partRecordPath(partPath), O_RDONLY | O_NOFOLLOW).catch(() => undefined);
  // A crash can truncate the last line, which is then ignored.
  const [first = '', ...rest] = (text ?? '').split('\n');
  const object = objectSchema.safeParse(tryParseJson(first));
  if (!object.success || object.data.key !== of.key || object.data.bucket !== of.bucket) return undefined;
  const { size, etag, md5, checksum } = object.data;
  const checkpoints = rest
    .map((line) => checkpointSchema.safeParse(tryParseJson(line)))
    .filter((one) => one.success);
  return {
    facts: { size, etag, md5: startMd5() && md5, checksum },
    checkpoint: checkpoints.at(-1)?.data,
  };
}
