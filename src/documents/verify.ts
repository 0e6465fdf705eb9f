import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf, UsageError } from '../kernel/errors.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { blocksOf } from './digest.ts';
import { MANIFEST_NAME, type ManifestEntry, parseLine, readManifest, staysInside } from './manifest.ts';

/** A file of the list, as `--json` prints it. */
export interface VerifiedFile {
  path: string | null;
  bytes: number | null;
  sha256: string | null;
  expected: string | null;
  status: 'ok' | 'changed' | 'missing' | 'unreadable';
  error: string | null;
}

const AT_ONCE = 4;

/**
 * Compares every file of a folder's list with its hash. A line that can't be read counts as a file that is not well.
 * @throws UsageError when there is no list.
 */
export async function* verifyFolder(
  dir: string,
  signal?: AbortSignal,
): AsyncGenerator<VerifiedFile, void, undefined> {
  const lines = (await readManifest(dir)).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length === 0) {
    throw new UsageError(`There is no ${MANIFEST_NAME} in ${dir}, or nothing in it.`, {
      hint: 'A download writes it: `esign envelopes download … --dir DIR`.',
    });
  }
  yield* mapInOrder(lines, AT_ONCE, (line) => verifyLine(dir, line, signal));
}

async function verifyLine(dir: string, line: string, signal: AbortSignal | undefined): Promise<VerifiedFile> {
  signal?.throwIfAborted();
  const entry = parseLine(line);
  const nothing = { path: null, bytes: null, sha256: null, expected: null };
  if (entry === undefined) return { ...nothing, status: 'unreadable', error: `a line is no entry: ${line}` };
  if (!staysInside(entry.name))
    return {
      ...nothing,
      expected: entry.sha256,
      status: 'unreadable',
      error: `${entry.name} is outside the folder`,
    };
  return verifyEntry(join(dir, entry.name), entry);
}

async function verifyEntry(path: string, { sha256: expected }: ManifestEntry): Promise<VerifiedFile> {
  try {
    const { bytes, sha256 } = await hashFile(path);
    const ok = sha256 === expected;
    return {
      path,
      bytes,
      sha256,
      expected,
      status: ok ? 'ok' : 'changed',
      error: ok ? null : 'its SHA-256 is another one',
    };
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const why = missing ? 'it is not there' : `it can't be read (${codeOf(error) ?? messageOf(error)})`;
    return {
      path,
      bytes: null,
      sha256: null,
      expected,
      status: missing ? 'missing' : 'unreadable',
      error: why,
    };
  }
}

async function hashFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, 'r');
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of blocksOf(file)) {
      bytes += block.byteLength;
      hash.update(block);
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}
