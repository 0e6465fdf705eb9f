import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdingsOf, rowsOf } from '../support/bulk-check.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { canMount, onSmallDisk } from '../support/disk-faults.ts';

const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox(['--rate-limit', '10000000/15m']);
});
afterAll(() => home.close());

describe('a full disk', () => {
  it.skipIf(!canMount)(
    'stops a run with a message; after a resume with free space, each row was sent once',
    async () => {
      await writeFile(home.path('many.csv'), rowsOf(60).replaceAll('@example.com', '@full.example'));
      const send = ['bulk', 'create', 'many.csv', '--template', 'tmpl_nda', '--send', '--yes'];
      let stops = 0;
      let run = await onSmallDisk(home, home.path('state'), 16, send);
      for (let kib = 24; run.code !== 0; kib += 8) {
        stops++;
        expect(run.stderr).toMatch(/disk is full/);
        const begun = (await home.run`bulk list -q`).stdout !== '';
        run = await onSmallDisk(home, home.path('state'), kib, begun ? ['bulk', 'resume', '--yes'] : send);
      }
      expect(stops).toBeGreaterThan(1);
      const { mails, drafts } = await holdingsOf(sandbox);
      const ours = [...mails].filter(([to]) => to.endsWith('@full.example'));
      expect([ours.length, ours.every(([, count]) => count === 1), drafts]).toEqual([60, true, 0]);
    },
  );
});
