import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home } from '../support/cli.ts';

const SECRETS = {
  ESIGN_WEBHOOK_SECRET: 'secret-of-webhooks',
  AWS_SECRET_ACCESS_KEY: 'secret-of-bucket',
  AWS_SESSION_TOKEN: 'secret-of-session',
};
const home = new Home();
const asSeenBy = (program: string) => readFile(home.path(`${program}.seen`), 'utf8');

beforeAll(async () => {
  await mkdir(home.path('bin'));
  for (const program of ['npm', 'key'])
    await writeFile(
      home.path('bin', program),
      `#!/bin/sh\n{ env; echo "$0 $@"; } > "$HOME/${program}.seen"\necho esk_printed\n`,
      {
        mode: 0o755,
      },
    );
});
afterAll(() => home.close());

it.skipIf(process.platform === 'win32')(
  'gives the key command the variables that an AWS secret store needs',
  async () => {
    const add = ['profiles', 'add', 'one', '--base-url', 'http://127.0.0.1:9', '--no-verify'];
    await home.run`${add} --api-key-command ${home.path('bin', 'key')}`;
    await home.run(argv`templates list --no-wait --timeout 1s`, { env: SECRETS });
    const seen = await asSeenBy('key');
    expect(seen).toContain('secret-of-bucket');
    expect(seen).toContain('secret-of-session');
    expect(seen).not.toContain('secret-of-webhooks');
  },
);
