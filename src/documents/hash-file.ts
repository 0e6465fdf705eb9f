import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** SHA-256, MD5 and length of a file, without holding it in memory. */
export async function hashFile(path: string): Promise<{ sha256: string; md5: string; bytes: number }> {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  let bytes = 0;
  await pipeline(createReadStream(path), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      sha256.update(chunk);
      md5.update(chunk);
      bytes += chunk.byteLength;
    }
  });
  return { sha256: sha256.digest('hex'), md5: md5.digest('hex'), bytes };
}
