import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { diskReason } from '../../kernel/disk-reason.ts';
import { UsageError } from '../../kernel/errors.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import type { FileResult } from '../download/file.ts';
import { MANIFEST_NAME, parseLine, readManifest, staysInside } from './manifest.ts';
import { blocksOf, openRegular } from './regular-file.ts';

const AT_ONCE = 4;

/**
 * Hashes every file of a folder's list anew: `unchanged`, or `failed` with what is wrong. A line that can't be read
 * counts as a file that is not well.
 * @throws UsageError when there is no list.
 */
export async function* verifyFolder(
  dir: string,
  signal?: AbortSignal,
): AsyncGenerator<FileResult, void, undefined> {
  const lines = (await readManifest(dir)).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length === 0) {
    throw new UsageError(`There is no ${MANIFEST_NAME} in ${dir}, or nothing in it.`, {
      hint: 'A download writes it: `esign envelopes download … --dir DIR`.',
    });
  }
  yield* mapInOrder(lines, AT_ONCE, (line) => verifyLine(dir, line, signal));
}

async function verifyLine(dir: string, line: string, signal: AbortSignal | undefined): Promise<FileResult> {
  signal?.throwIfAborted();
  const entry = parseLine(line);
  if (entry === undefined) return failed(null, `A line of ${MANIFEST_NAME} is no entry: ${line}`);
  const { name } = entry;
  if (!staysInside(name)) return failed(null, `${name} is outside the folder.`);
  const path = join(dir, name);
  try {
    const hashed = await hashFile(path);
    if (hashed === undefined) return failed(path, `${name} is missing.`);
    const { bytes, sha256 } = hashed;
    if (sha256 === entry.sha256) return { ...nothing, path, bytes, sha256, status: 'unchanged', error: null };
    return { ...failed(path, `${name} is not what was downloaded: its SHA-256 is another.`), bytes, sha256 };
  } catch (error) {
    return failed(path, `${name} can't be read (${diskReason(error)}).`);
  }
}

const nothing = { envelopeId: null, what: null, key: null, path: null, bytes: null, sha256: null };

function failed(path: string | null, message: string): FileResult {
  return { ...nothing, path, status: 'failed', error: { code: 'STORAGE_CORRUPT', message } };
}

async function hashFile(path: string): Promise<{ bytes: number; sha256: string } | undefined> {
  const file = openRegular(path);
  if (file === undefined) return undefined;
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of blocksOf(file)) {
      bytes += block.byteLength;
      hash.update(block);
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    closeSync(file);
  }
}
