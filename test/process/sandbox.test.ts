import { readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { COMMAND, Home, reportedError } from '../support/cli.ts';

const NAMES = [
  ...['AWS_ACCESS_KEY_ID', 'AWS_ENDPOINT_URL_S3', 'AWS_REGION', 'AWS_SECRET_ACCESS_KEY'],
  ...['ESIGN_API_KEY', 'ESIGN_BASE_URL', 'ESIGN_BUCKET', 'ESIGN_SANDBOX_URL'],
];
const ESIGN = COMMAND.map((word) => `'${word}'`).join(' ');

describe.skipIf(process.platform === 'win32')('sandbox exec', () => {
  const home = new Home();
  const env = { TMPDIR: home.pathLater('tmp') };
  beforeAll(() => mkdir(env.TMPDIR, { recursive: true }));
  const exec = (words: readonly string[], more: Record<string, string> = {}) =>
    home.run(argv`sandbox exec ${words}`, { env: { ...env, ...more } });
  const left = () => readdirSync(env.TMPDIR);

  it('counts IDs and stops the clock, so that two runs are identical', async () => {
    const create = `${ESIGN} envelopes create --template tmpl_nda --signer ada@example.com --json`;
    const words = [
      '--ids',
      'counted',
      '--freeze',
      '--clock',
      '2030-05-01T09:00:00Z',
      '--',
      'sh',
      '-c',
      create,
    ];
    const { code, stdout } = await exec(words);
    expect(code).toBe(0);
    expect(parseJson(stdout)).toMatchObject({
      id: 'env_1',
      createdAt: '2030-05-01T09:00:00.000Z',
      signers: [{ id: 'signer_1' }],
    });
    expect((await exec(['--clock', 'soon', '--', 'true'])).code).toBe(2);
  });

  it("gives the command the address, the key, and the bucket, and none of the caller's settings", async () => {
    const foreign = {
      ESIGN_PROFILE: 'acme',
      ESIGN_BUCKET_ENDPOINT: 'http://x',
      ESIGN_WEBHOOK_SECRET: 'secret',
      AWS_PROFILE: 'acme',
      AWS_SESSION_TOKEN: 'token',
      AWS_ENDPOINT_URL: 'http://x',
      OTHER: 'kept',
    };
    const script = 'console.log(JSON.stringify(process.env))';
    const { stdout, code } = await exec(['--', 'node', '-e', script], foreign);
    const printed = parseJson(stdout);
    const seen = isRecord(printed)
      ? Object.entries(printed).map(([name, value]) => [name, String(value)] as const)
      : [];
    const kept = ['ESIGN_CONFIG_DIR', 'ESIGN_STATE_DIR'];
    const names = seen
      .map(([name]) => name)
      .filter((name) => /^(AWS|ESIGN)_/.test(name) && !kept.includes(name));
    expect([code, names.sort()]).toEqual([0, NAMES]);
    const values = Object.fromEntries(seen);
    expect(values.OTHER).toBe('kept');
    expect(values.ESIGN_BASE_URL).toBe(`${values.ESIGN_SANDBOX_URL}/api/v1`);
    expect(left()).toEqual([]);
  });

  it('lets commands work in it, from the envelope to its documents', async () => {
    const script = `
      id=$(${ESIGN} envelopes create --template tmpl_nda --signer 'Ada <ada@example.com>' --send -q)
      ${ESIGN} sandbox mails --to ada@example.com --wait 60s | grep -o 'http:.*'
      ${ESIGN} sandbox sign "$id" -q >/dev/null
      ${ESIGN} envelopes download "$id" --dir downloads
      node -e 'fetch(process.env.ESIGN_SANDBOX_URL + "/__sandbox/")'`;
    const { stdout, stderr, code } = await exec(['sh', '-ec', script]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign\/\w+\n/);
    expect(readdirSync(home.path('downloads'))).toHaveLength(3);
    expect(left()).toEqual([]);
  });

  it('starts with a seed, and reports an error in one', async () => {
    await writeFile(home.path('seed.yaml'), 'envelopes:\n  - id: env_1\n    status: COMPLETED\n');
    const script = `${ESIGN} envelopes list -q`;
    expect((await exec(['--seed', 'seed.yaml', 'sh', '-c', script])).stdout).toBe('env_1\n');
    await writeFile(home.path('seed.yaml'), 'envelopes:\n  - id: env_1\n    status: DONE\n');
    const { code, stderr } = await exec(['--seed', 'seed.yaml', 'true']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/seed\.yaml can't be used: envelopes\.0\.status/),
    ]);
    expect(left()).toEqual([]);
  });

  it.each([
    [['sh', '-c', 'exit 7'], 7],
    [['--', 'sh', '-c', 'exit 0'], 0],
    [['sh', '-c', 'kill -9 $$'], 137],
    [
      [
        'node',
        '-e',
        'process.exit(process.argv.join() === [process.execPath, "-", "--help", "--json", "-", "--"].join() ? 5 : 6)',
        '--',
        '-',
        '--help',
        '--json',
        '-',
        '--',
      ],
      5,
    ],
  ])("exits with the command's exit code: %j", async (words, code) => {
    expect((await exec(words)).code).toBe(code);
    expect(left()).toEqual([]);
  });

  it('exempts its sandbox from the proxy, for every kind of program', async () => {
    const proxy = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'a.example' };
    const words = ['sh', '-c', `echo "$NO_PROXY $no_proxy"; ${ESIGN} templates list -q`];
    const { code, stdout } = await exec(words, proxy);
    const hosts = 'a.example,127.0.0.1,localhost,::1';
    expect([code, stdout.split('\n')[0]]).toEqual([0, `${hosts} ${hosts}`]);
  });

  it('exits with the signal that ended the command', async () => {
    expect(await exec(['sh', '-c', 'kill -TERM $$'])).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  it.each([['no-such-program'], [`${process.execPath}/below-a-file`]])(
    'reports that it is unable to run %s',
    async (file) => {
      const finished = await exec(['--json', file]);
      expect(finished.code).toBe(2);
      expect(reportedError(finished).message).toContain(file);
      expect(left()).toEqual([]);
    },
  );

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`forwards ${signal}, waits for the command, and is then stopped by it`, {
      tags: signal === 'SIGTERM' ? [] : ['full'],
    }, async () => {
      const script = `trap 'echo stopped > stopped; exit 0' TERM INT; echo $$; while :; do sleep 0.1; done`;
      const running = home.start(argv`sandbox exec sh -c ${script}`, { env });
      await running.line();
      expect(await running.stop(signal)).toEqual({ code: null, signal });
      expect(await readFile(home.path('stopped'), 'utf8')).toBe('stopped\n');
      expect(left()).toEqual([]);
    });

  it('leaves nothing behind after kill -9 of the command', async () => {
    const running = home.start(argv`sandbox exec sh -c 'echo $$; exec sleep 1000'`, { env });
    const child = Number(await running.line());
    expect(left()).toHaveLength(1);
    process.kill(child, 'SIGKILL');
    expect(await running.ended).toEqual({ code: 137, signal: null });
    expect(left()).toEqual([]);
  });
});
