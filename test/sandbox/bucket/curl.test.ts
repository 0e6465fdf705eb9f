import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { needs } from '../../support/tools.ts';
import { BUCKET, bytes, owner, REGION, startRig } from './rig.ts';

/** curl has signed requests itself since 7.75, so it is an independent implementation. */
function canSign(): boolean {
  const { stdout = '' } = spawnSync('curl', ['--version'], { encoding: 'utf8' });
  const [, major = 0, minor = 0] = /^curl (\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? [];
  return major > 7 || (major === 7 && minor >= 75);
}

const run = promisify(execFile);

describe.skipIf(!canSign())('curl', needs('curl'), () => {
  it('can put, get, list, and resume, and is refused with a wrong secret', async () => {
    const rig = await startRig();
    const [up, down] = [join(rig.outside, 'up'), join(rig.outside, 'down')];
    const body = bytes(30_000);
    await writeFile(up, body);
    const curl = async (path: string, more: string[], secret = owner.secretAccessKey) => {
      const { stdout } = await run('curl', [
        ...[
          '--silent',
          '--max-time',
          '20',
          '--noproxy',
          '*',
          '--output',
          down,
          '--write-out',
          '%{http_code}',
        ],
        ...['--aws-sigv4', `aws:amz:${REGION}:s3`, '--user', `${owner.accessKeyId}:${secret}`],
        // Older curls leave this header, which S3 requires, to the user.
        ...['--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD', ...more, `${rig.endpoint}/${path}`],
      ]);
      return stdout;
    };
    expect(await curl(`${BUCKET}/folder/x.pdf`, ['--upload-file', up])).toBe('200');
    expect(await rig.server.objects.get('folder/x.pdf')).toEqual(body);
    expect(await curl(`${BUCKET}/folder/x.pdf`, [])).toBe('200');
    expect(await readFile(down)).toEqual(body);
    expect(await curl(`${BUCKET}/folder/x.pdf`, ['--range', '10-19'])).toBe('206');
    expect(await readFile(down)).toEqual(body.subarray(10, 20));
    expect(await curl(`${BUCKET}?list-type=2`, [])).toBe('200');
    expect(await readFile(down, 'utf8')).toContain('<Key>folder/x.pdf</Key>');
    expect(await curl(`${BUCKET}/folder/x.pdf`, [], 'wrong')).toBe('403');
    expect(await readFile(down, 'utf8')).toContain('SignatureDoesNotMatch');
  });
});
