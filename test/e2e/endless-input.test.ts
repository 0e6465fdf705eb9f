import { afterAll, expect, it } from 'vitest';
import { Home, reportedError } from '../support/cli.ts';

const home = new Home();
afterAll(() => home.close());

it.skipIf(process.platform === 'win32')('refuses an endless file or pipe', async () => {
  await home.sandbox();
  expect(reportedError(await home.run(['sandbox', 'seed', '/dev/zero', '--json']))).toMatchObject({
    exitCode: 2,
  });
  const piped = await home.shell('yes "envelopes:" | esign sandbox seed - --json');
  expect(piped.stderr).toContain('64 MiB');
});
