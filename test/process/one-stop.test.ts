import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, expect, it } from 'vitest';
import { Home, linesOf } from '../support/cli.ts';

const home = new Home();
afterAll(() => home.close());

it.skipIf(process.platform === 'win32')('exits with its own signal after a profile was written', async () => {
  const kills = home.path('kills');
  await writeFile(
    home.path('kills.cjs'),
    `const kill = process.kill; process.kill = (pid, signal) => {
      if (pid === process.pid) require('node:fs').appendFileSync(process.env.KILLS, signal + '\\n');
      return kill.call(process, pid, signal);
    };`,
  );
  const env = { NODE_OPTIONS: `--require ${home.path('kills.cjs')}`, KILLS: kills };
  const sandbox = home.start('sandbox start --ephemeral --port 0 --json'.split(' '), {
    env,
  });
  await sandbox.object();
  expect(await sandbox.stop('SIGINT')).toMatchObject({ signal: 'SIGINT' });
  expect(linesOf(await readFile(kills, 'utf8'))).toEqual(['SIGINT']);
});
