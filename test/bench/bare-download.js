import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Pool } from 'undici';

/*
 * The minimum for a download in Node: reads presigned URLs from stdin, fetches them over the given number of connections,
 * hashes each body while writing it to a file in a numbered folder, and syncs the file.
 * node test/bench/bare-download.js FOLDER CONNECTIONS < URLS
 */
const [folder = '.', connections = '32'] = process.argv.slice(2);
const urls = (await text(process.stdin)).trim().split('\n');
await mkdir(folder, { recursive: true });
const pool = new Pool(new URL(urls[0]).origin, { connections: Number(connections) });

const next = urls.entries();
const work = async () => {
  for (const [index, url] of next) {
    const { pathname, search } = new URL(url);
    const { statusCode, body } = await pool.request({ method: 'GET', path: pathname + search });
    if (statusCode !== 200) throw new Error(`${pathname} was answered ${statusCode}`);
    await mkdir(join(folder, String(index)));
    const file = await open(join(folder, String(index), 'signed.pdf'), 'wx');
    const hash = createHash('sha256');
    for await (const chunk of body) {
      hash.update(chunk);
      await file.write(chunk);
    }
    hash.digest('hex');
    await file.sync();
    await file.close();
  }
};
await Promise.all(Array.from({ length: Number(connections) }, work));
await pool.close();
