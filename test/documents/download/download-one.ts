import { Folders } from '../../../src/documents/archive/folders.ts';
import type { Bucket } from '../../../src/documents/bucket/bucket.ts';
import { type DownloadOptions, downloadFile, type FileResult } from '../../../src/documents/download/file.ts';
import type { DocumentFile } from '../../../src/documents/download/locate.ts';
import { fakeClock } from '../../support/clock.ts';

/** Downloads one file, as a separate run unless the folders are given. */
export async function downloadOne(
  bucket: Bucket,
  file: DocumentFile,
  { dir, force = false, folders, ledger }: Pick<DownloadOptions, 'dir'> & Partial<DownloadOptions>,
): Promise<FileResult> {
  const clock = fakeClock();
  const own = folders ?? (await Folders.open(dir, { clock }));
  try {
    return (await downloadFile(bucket, file, { dir, folders: own, force, ledger, clock })).result;
  } finally {
    if (folders === undefined) await own.close();
  }
}
