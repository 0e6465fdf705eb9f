import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DownloadFolder } from '../../../src/documents/archive/download-folder.ts';
import { fakeClock } from '../../support/clock.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-folders-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Opens a folder below `dir` while another run has locked `dir`, and calls `wait` with each sleep. */
function openBelow(options: { onlyFile?: string }, wait: () => Promise<void>): Promise<DownloadFolder> {
  const clock = { ...fakeClock(), sleep: wait };
  return DownloadFolder.open(join(dir, 'below'), { ...options, hasList: false, clock });
}

describe.each([{}, { onlyFile: 'contract.pdf' }])(
  'a folder below one that another run has locked (%o)',
  (options) => {
    it('is opened as soon as that run ends', async () => {
      const above = await DownloadFolder.open(dir, { hasList: false });
      const below = await openBelow(options, () => above.close());
      await below.close();
    });

    it('is refused if that run takes too long', async () => {
      const above = await DownloadFolder.open(dir, { hasList: false });
      await expect(openBelow(options, () => Promise.resolve())).rejects.toMatchObject({
        code: 'STORAGE_LOCAL',
      });
      await above.close();
      await (await openBelow(options, () => Promise.reject(new Error('waits')))).close();
    });
  },
);

it('names the file whose name is too long', async () => {
  const onlyFile = 'x'.repeat(300);
  await expect(DownloadFolder.open(dir, { onlyFile, hasList: false })).rejects.toThrow(onlyFile);
});
