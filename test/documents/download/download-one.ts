import { DownloadFolder } from '../../../src/documents/archive/download-folder.ts';
import type { Bucket } from '../../../src/documents/bucket/bucket.ts';
import { type DownloadOptions, downloadFile, type FileResult } from '../../../src/documents/download/file.ts';
import type { DocumentFile } from '../../../src/documents/download/locate.ts';
import { fakeClock } from '../../support/clock.ts';

/** Downloads one file, as a separate run unless the folder is given. */
export async function downloadOne(
  bucket: Bucket,
  file: DocumentFile,
  { dir, force = false, folder }: { dir: string } & Partial<DownloadOptions>,
): Promise<FileResult> {
  const clock = fakeClock();
  const own = folder ?? (await DownloadFolder.open(dir, { hasList: false, clock }));
  try {
    return (await downloadFile(bucket, file, { folder: own, force, clock })).result;
  } finally {
    if (folder === undefined) await own.close();
  }
}
