import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { writeReason } from './disk-reason.ts';

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/** Creates an empty temporary folder. @throws UsageError if the system's temporary folder is missing or not writable */
export async function createTemporary(prefix: string): Promise<string> {
  const path = join(tmpdir(), prefix);
  return mkdtemp(path).catch((error: unknown) => {
    throw new UsageError(`Can't create ${path}…: ${writeReason(error)}.`, {
      cause: error,
      hint: `Set ${process.platform === 'win32' ? 'TEMP' : 'TMPDIR'} to a folder that can be written.`,
    });
  });
}

/** Creates a temporary folder that can be removed with its content. */
export async function makeTemporaryFolder(prefix: string): Promise<TemporaryFolder> {
  const path = await createTemporary(prefix);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
