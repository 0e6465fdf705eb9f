import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, type LongRunning, linesOf, reportedError } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';

const home = new Home();

const start = (...args: string[]) => home.background`sandbox start --port 0 --json ${args}`;
const draft = ['envelopes', 'create', '--template', 'tmpl_employment', '--signing-order', 'sequential'];
const three = ['--signer', 'E <e@x.org>', '--signer', 'M <m@x.org>', '--signer', 'H <h@x.org>', '--send'];

describe('the sandbox', () => {
  it('keeps its state and key across restarts, also after kill -9', async () => {
    const first = home.start`sandbox start --port 0 --json --data data`;
    const before = await first.object();
    const envelope = await home.object`${draft} ${three}`;
    // A kill loses at most the last second.
    await eventually(async () => {
      expect(await readFile(home.path('data', 'state.jsonl'), 'utf8')).toContain(String(envelope.id));
    });
    await first.stop('SIGKILL');
    const second = start('--data', 'data');
    const after = await second.object();
    expect(after.apiKey).toBe(before.apiKey);
    expect(after.secretAccessKey).toBe(before.secretAccessKey);
    expect(await home.object`envelopes get ${String(envelope.id)}`).toMatchObject({
      id: envelope.id,
      status: 'SENT',
    });
    expect((await stat(home.path('data'))).mode & 0o077).toBe(0);
    expect(await second.stop('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('refuses a folder or a port in use, with a clear message', async () => {
    const running = start('--data', 'busy');
    const { baseUrl } = await running.object();
    const port = new URL(String(baseUrl)).port;
    const refused = async (one: LongRunning) => ({
      ...(await one.ended),
      stdout: '',
      stderr: await one.stderr,
    });
    const folder = await refused(start('--data', 'busy'));
    const taken = await refused(home.background`sandbox start --port ${port} --ephemeral --json`);
    expect([folder.code, taken.code]).toEqual([2, 2]);
    expect(reportedError(taken)).toMatchObject({
      message: expect.stringContaining(`${port}: the port is already in use`) as unknown,
    });
    await running.stop();
  });

  it.each([
    'start --ephemeral --port 0 --clock +275760-09-13T00:00:00Z',
    'start --ephemeral --port 0 --choice list-items',
    'start --ephemeral --port 0 --choice list-items=some',
    'start --ephemeral --port 0 --fault lost',
    'start --ephemeral --port 0 --fault lostReply={',
    'start --ephemeral --port 0 --fault webhooks.drop=envelope.gone',
    'start --ephemeral --port 0 --seed a.yaml --like acme',
    'start --ephemeral --data x --port 0',
    'seed',
    'seed nowhere.yaml',
  ])('refuses `sandbox %s`', async (words) => {
    const refused = await home.run(['sandbox', ...words.split(' '), '--json']);
    expect([refused.code, reportedError(refused).code]).toEqual([2, 'USAGE']);
  });

  it('has the limits, faults, choices, clock, and IDs of its flags', async () => {
    const flags = [
      ...[
        '--quota',
        '2',
        '--rate-limit',
        '40/1h',
        '--choice',
        'action-reply=empty204',
        '--choice',
        'list-order=asc',
      ],
      ...['--fault', 'error500=GET /esign/none', '--fault', 'lostReply={"times":1,"skip":1000}'],
      ...['--fault', 'webhooks.drop', '--clock', '2030-05-01T09:00:00Z', '--freeze', '--ids', 'counted'],
    ];
    const other = new Home();
    const { stop } = await other.sandbox(flags);
    expect(await other.object`${draft} ${three}`).toMatchObject({
      id: 'env_1',
      createdAt: '2030-05-01T09:00:00.000Z',
    });
    expect(await other.control('/faults')).toMatchObject({
      settings: {
        error500: { match: 'GET /esign/none' },
        lostReply: { times: 1, skip: 1000 },
        webhooks: { drop: {} },
      },
    });
    expect((await other.run`envelopes cancel env_1 --yes`).code).toBe(0);
    await other.object`${draft} ${three}`;
    const refused = reportedError(await other.run([...draft, ...three, '--json']));
    expect(refused).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    const list = await other.run`api GET /esign/envelopes --debug`;
    expect(list.stderr).toMatch(/of 40 left/);
    expect(list.stdout.indexOf('env_1')).toBeLessThan(list.stdout.indexOf('env_2'));
    await stop();
  });

  it('keeps nothing when it is ephemeral', async () => {
    const profiles = await home.json`profiles list`;
    const running = home.start`sandbox start --port 0 --json --ephemeral`;
    const { dataDir } = await running.object();
    expect(existsSync(String(dataDir))).toBe(true);
    await running.stop('SIGINT');
    expect(existsSync(String(dataDir))).toBe(false);
    expect(await home.json`profiles list`).toEqual(profiles);
  });

  it("leaves no profile behind when it is ephemeral, and doesn't touch other profiles", async () => {
    const other = new Home();
    const names = async () => JSON.stringify(await other.json`profiles list`);
    const first = other.background`sandbox start --ephemeral --port 0 --json`;
    await first.object();
    expect(await names()).toContain('"sandbox"');
    const second = other.background`sandbox start --data kept --port 0 --json`;
    const { baseUrl } = await second.object();
    await first.stop();
    expect(await names()).toContain(String(baseUrl));
    const third = other.background`sandbox start --ephemeral --port 0 --json`;
    await third.object();
    await third.stop('SIGINT');
    expect(await names()).toContain(String(baseUrl));
    await other.json`profiles remove sandbox --yes`;
    const fourth = other.background`sandbox start --ephemeral --port 0 --json`;
    await fourth.object();
    await fourth.stop();
    expect(await names()).toBe('[]');
  });

  it('simulates signers, time, and deliveries', async () => {
    const { stop } = await home.sandbox();
    const { id } = await home.object([...draft, ...three, '--webhook-url', 'http://127.0.0.1:9/h']);
    const early = await home.run`sandbox sign ${String(id)} --signer h@x.org --json`;
    expect(reportedError(early)).toMatchObject({ code: 'INVALID_STATE', exitCode: 5 });
    expect(await home.object`sandbox view ${String(id)}`).toMatchObject({
      status: 'SENT',
      signers: [{ status: 'VIEWED' }, {}, {}],
    });
    expect(await home.object`sandbox sign ${String(id)}`).toMatchObject({
      status: 'IN_PROGRESS',
      signers: [{ status: 'SIGNED' }, { status: 'SENT' }, { status: 'PENDING' }],
    });
    expect(await home.object`sandbox sign ${String(id)} --all`).toMatchObject({
      status: 'COMPLETED',
    });
    const again = await home.run`sandbox sign ${String(id)} --json`;
    expect(reportedError(again)).toMatchObject({
      code: 'INVALID_STATE',
      hint: expect.stringContaining('envelopes get') as unknown,
    });
    const deliveries = await home.control(`/deliveries?envelopeId=${String(id)}`);
    expect(deliveries).toContainEqual(
      expect.objectContaining({ event: 'envelope.completed', state: 'pending' }),
    );
    const late = await home.object`${draft} ${three}`;
    await home.run`sandbox advance 31d`;
    expect(await home.object`envelopes get ${String(late.id)}`).toMatchObject({ status: 'EXPIRED' });
    const tooFar = reportedError(await home.run`sandbox advance 100000d --json`);
    expect(tooFar).toMatchObject({ code: 'USAGE', exitCode: 2 });
    expect(tooFar.hint).toContain('3650d');
    const declined = await home.object`${draft} ${three}`;
    expect(await home.object`sandbox decline ${String(declined.id)} --reason no`).toMatchObject({
      status: 'DECLINED',
      signers: [{ declineReason: 'no' }, {}, {}],
    });
    const unasked = await home.run`sandbox reset --json`;
    expect(reportedError(unasked)).toMatchObject({ code: 'USAGE', exitCode: 2 });
    expect(await home.object`sandbox reset --dry-run`).toMatchObject({ dryRun: true, action: 'reset' });
    expect(await home.json`envelopes list`).toHaveLength(3);
    expect(await home.json`find x.org`).toHaveLength(3);
    await home.run`sandbox reset --yes`;
    expect(await home.json`find x.org`).toEqual([]);
    expect(await home.json`envelopes list`).toEqual([]);
    await stop();
    const nowhere = argv`sandbox reset --dry-run --base-url http://127.0.0.1:9/api/v1`;
    expect((await home.run(nowhere, { env: { ESIGN_API_KEY: 'sk_test_0123456789' } })).code).toBe(8);
  });
});

describe('sandbox mails', () => {
  const home = new Home();

  it('lists emails with their link, waits for one, and exits with 124 if none arrives', async () => {
    await home.sandbox();
    const waiting = home.json`sandbox mails --to Bob@example.com --wait 100s`;
    const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--send', '-q'];
    const { stdout } =
      await home.run`${words} --signer 'Ada <ada@example.com>' --signer 'Bob <bob@example.com>'`;
    const link: unknown = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/sign\/\w+$/);
    expect(await waiting).toMatchObject([{ to: 'bob@example.com', kind: 'request', link }]);
    expect(await home.json`sandbox mails --envelope ${stdout.trim()}`).toHaveLength(2);
    expect(linesOf((await home.run`sandbox mails -q`).stdout)).toHaveLength(2);
    const none = await home.run`sandbox mails --to eve@example.com --wait 1s --json`;
    expect([none.code, reportedError(none)]).toEqual([
      124,
      expect.objectContaining({
        code: 'WAIT_TIMEOUT',
        message: expect.stringMatching(/eve@example\.com.* 1 second/) as unknown,
      }),
    ]);
    expect(await home.json`sandbox mails --to eve@example.com`).toEqual([]);
  });
});

describe('demo', () => {
  it('describes each step, and changes no profile', { tags: ['full'] }, async () => {
    const other = new Home();
    const { stdout, code } = await other.run`demo --dir downloads`;
    expect(code).toBe(0);
    expect(stdout).toContain('$ esign envelopes create --template tmpl_lease');
    expect(stdout).toContain('6 with a valid signature');
    // The suggested command runs in the same shell. A function of that name would hide that it is not on the PATH.
    const program = /^Try it yourself: +(.+) sandbox start$/m.exec(stdout)?.[1];
    expect((await other.shell(`unset -f esign; ${program} --version`)).stdout).toMatch(/^esign-cli\//);
    expect(parseJson((await other.run`profiles list --json`).stdout)).toEqual([]);
  });
});
