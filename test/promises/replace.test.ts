import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, reportedError, type Sandbox } from '../support/cli.ts';
import { leasesIn, part, RIGHT } from '../support/leases.ts';
import { requestsToSign } from '../support/mails.ts';

/*
 * Corrects a wrong signer: creates the new draft, cancels the old envelope, sends the new one. Interruptions are in
 * process/stopped-replacements.
 */
/** Both signers of a lease were asked once. */
const BOTH = { 'ada@example.com': 1, 'bo@example.com': 1 };
const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox();
});

const { lease, get, madeFor } = leasesIn(home);
const replaced = async (...args: string[]) => {
  const done = await home.object`envelopes replace ${args}`;
  if (!isRecord(done.old) || !isRecord(done.new)) throw new Error('no old and new');
  return { old: done.old, made: done.new };
};
const emails = (envelope: Record<string, unknown>) =>
  isList(envelope.signers) ? envelope.signers.filter(isRecord).map(({ email }) => email) : [];

describe('envelopes replace', () => {
  it('creates a copy with the change, cancels the original, and sends the copy', async () => {
    const webhook = ['--webhook-url', 'http://127.0.0.1:9/hook'];
    const about = [
      '--subject',
      'Lease 5',
      '--message',
      'Please sign',
      '--metadata',
      'deal=4711',
      '--expires-in-days',
      '12',
    ];
    const id = await lease('--send', '--signing-order', 'sequential', ...about, ...webhook);
    const run = await home.run`envelopes replace ${id} --signer ${RIGHT} --reason 'wrong address' --json`;
    expect([run.code, run.stderr]).toEqual([0, '']);
    const [old, made] = [part(run.stdout, 'old'), part(run.stdout, 'new')];
    expect(old).toEqual(await get(id));
    expect(made).toEqual(await get(String(made.id)));
    expect([old.status, made.status]).toEqual(['CANCELLED', 'SENT']);
    expect(made).toMatchObject({
      templateId: 'tmpl_lease',
      subject: 'Lease 5',
      message: 'Please sign',
      signingOrder: 'SEQUENTIAL',
      webhookUrl: 'http://127.0.0.1:9/hook',
      metadata: { deal: '4711', replaces: id },
      signers: [
        { email: 'ada@example.com', name: 'Ada Lovelace', role: 'Tenant', order: 1 },
        { email: 'bo@example.com', name: 'Bo', role: 'Landlord', order: 2 },
      ],
    });
    expect(Date.parse(String(made.expiresAt)) - Date.parse(String(made.createdAt))).toBe(12 * 86_400_000);
    expect(await requestsToSign(sandbox, String(made.id))).toEqual({ 'ada@example.com': 1 });
  });

  it('is the only way to send its draft while the original is open', async () => {
    const id = await lease('--send');
    const draft = String((await replaced(id, '--signer', RIGHT, '--draft')).made.id);
    const other = await lease();
    const single = await home.run`envelopes send ${draft} --json`;
    const error = reportedError(single);
    expect([single.code, error]).toMatchObject([5, { code: 'INVALID_STATE', outcome: 'none' }]);
    expect([error.message, error.next]).toEqual([
      expect.stringContaining(`${draft} replaces ${id}, which is SENT`),
      expect.arrayContaining([`esign envelopes cancel ${id}`]),
    ]);
    const dry = await home.run`envelopes send ${draft} --dry-run`;
    expect(dry.stdout).not.toContain('would send');
    const input = `${draft}\n${other}\n`;
    const several = await home.run(argv`envelopes send - --yes --json`, { input });
    expect([several.code, (await get(draft)).status, (await get(other)).status]).toEqual([
      10,
      'DRAFT',
      'SENT',
    ]);
    expect(await requestsToSign(sandbox, String(draft))).toEqual({});
    await home.run`envelopes cancel ${id} --yes`;
    expect((await home.run`envelopes send ${draft}`).code).toBe(0);
  });

  it('adds, removes, and renames signers; a new address alone keeps the name, with a notice', async () => {
    const id = await lease('--send');
    const { made } = await replaced(
      id,
      '--remove-signer',
      'bo@example.com',
      '--add-signer',
      'Cy <cy@example.com>;role=Landlord',
      '--subject',
      'New',
    );
    expect([emails(made), made.subject]).toEqual([['adda@example.com', 'cy@example.com'], 'New']);
    const again =
      await home.run`envelopes replace ${String(made.id)} --signer adda@example.com=ada@example.com`;
    expect(again.stderr).toContain('keeps the name Ada');
    expect(again.stdout).toMatch(new RegExp(`^${String(made.id)}\tCANCELLED\tenv_\\w+\tSENT\n$`));
  });

  it('creates only the new one with --draft; without it, the same command continues', async () => {
    const id = await lease('--send');
    const first = await replaced(id, '--signer', RIGHT, '--draft');
    expect([first.old.status, first.made.status]).toEqual(['SENT', 'DRAFT']);
    expect(await replaced(id, '--signer', RIGHT, '--draft')).toEqual(first);
    const then = await replaced(id, '--signer', RIGHT);
    expect([then.old.status, then.made.status, then.made.id]).toEqual(['CANCELLED', 'SENT', first.made.id]);
    const last = await home.run`envelopes replace ${id} --signer ${RIGHT} --json`;
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining('Nothing was done')]);
    expect(await madeFor(id)).toHaveLength(1);
    expect(await requestsToSign(sandbox, String(first.made.id))).toEqual(BOTH);
  });

  it('continues and finds its draft without its local record', async () => {
    const id = await lease('--send');
    const first = await replaced(id, '--signer', RIGHT, '--draft');
    for (const machine of ['two', 'three']) {
      const elsewhere = { env: { ESIGN_STATE_DIR: home.path(machine) } };
      const run = await home.run(argv`envelopes replace ${id} --signer ${RIGHT} --json`, elsewhere);
      expect([run.code, part(run.stdout, 'new').id]).toEqual([0, first.made.id]);
    }
    expect(await madeFor(id)).toHaveLength(1);
  });

  it.each([
    ['CANCELLED', (id: string) => home.run`envelopes cancel ${id}`],
    ['DECLINED', (id: string) => home.run`sandbox decline ${id} --reason no`],
    ['EXPIRED', () => home.run`sandbox advance 31d`],
  ])('sends one that is %s again without canceling it', async (status, end) => {
    const id = await lease('--send');
    await end(id);
    const { old, made } = await replaced(id);
    expect([old.status, made.status, emails(made)]).toEqual([
      status,
      'SENT',
      ['adda@example.com', 'bo@example.com'],
    ]);
  });

  it('refuses a fully signed envelope, and names who has already signed', async () => {
    const id = await lease('--send');
    await home.run`sandbox sign ${id} --signer bo@example.com`;
    const refused = await home.run`envelopes replace ${id} --signer ${RIGHT} --json`;
    expect([refused.code, reportedError(refused)]).toMatchObject([
      5,
      { code: 'INVALID_STATE', message: expect.stringContaining('Bo has already signed') as unknown },
    ]);
    expect(reportedError(refused).hint).toContain('--even-if-signed');
    expect([(await get(id)).status, await madeFor(id)]).toEqual(['IN_PROGRESS', []]);
    const meant = await replaced(id, '--signer', RIGHT, '--even-if-signed');
    expect([meant.old.status, meant.made.status]).toEqual(['CANCELLED', 'SENT']);
    await home.run`sandbox sign ${String(meant.made.id)} --all`;
    const whole = await home.run`envelopes replace ${String(meant.made.id)} --even-if-signed --json`;
    expect([whole.code, reportedError(whole).message]).toEqual([5, expect.stringContaining('COMPLETED')]);
  });

  it('refuses other changes once it was replaced, and names the existing replacement', async () => {
    const id = await lease('--send');
    const { made } = await replaced(id, '--signer', RIGHT);
    const other =
      await home.run`envelopes replace ${id} --signer 'adda@example.com=Eve <eve@example.com>' --json`;
    expect([other.code, reportedError(other).hint]).toEqual([
      5,
      expect.stringContaining(`esign envelopes replace ${String(made.id)}`),
    ]);
    expect(await madeFor(id)).toHaveLength(1);
  });

  it.each([
    [
      'an address that is not a signer',
      ['--signer', 'eve@example.com=ada@example.com'],
      'eve@example.com is not a signer',
    ],
    ['a missing pair', ['--signer', 'ada@example.com'], 'OLD=SIGNER'],
    ['an invalid address', ['--signer', 'adda@example.com=ada'], 'has no email address'],
    [
      'no remaining signer',
      ['--remove-signer', 'adda@example.com', '--remove-signer', 'bo@example.com'],
      'would have no signers',
    ],
    ['a role without a signer', ['--remove-signer', 'bo@example.com'], 'No signer has the role Landlord'],
  ])('exits with 2 and changes nothing: %s', async (_, args, text) => {
    const id = await lease('--send');
    const run = await home.run`envelopes replace ${id} ${args} --json`;
    const error = reportedError(run);
    expect([run.code, `${String(error.message)} ${String(error.hint)}`]).toEqual([
      2,
      expect.stringContaining(text),
    ]);
    expect([(await get(id)).status, await madeFor(id)]).toEqual(['SENT', []]);
  });

  it('shows the plan and its requests with --dry-run, and changes nothing', async () => {
    const id = await lease('--send');
    const planned = await home.run`envelopes replace ${id} --signer ${RIGHT} --dry-run`;
    expect(planned.stdout).toContain('one more envelope');
    expect(planned.stdout).toContain('+ Ada Lovelace <ada@example.com>, Tenant');
    const shown = await home.object`envelopes replace ${id} --signer ${RIGHT} --dry-run`;
    expect(shown).toMatchObject({
      dryRun: true,
      action: 'replace',
      id,
      steps: ['make', 'cancel', 'send'],
    });
    expect([(await get(id)).status, await madeFor(id)]).toEqual(['SENT', []]);
  });
});

describe('a replaced envelope', () => {
  it('names its replacement, and the replacement names it', async () => {
    const id = await lease('--send');
    const { made } = await replaced(id, '--signer', RIGHT);
    expect((await home.run`envelopes get ${id}`).stdout).toMatch(
      new RegExp(`Replaced by +${String(made.id)} \\(SENT\\)`),
    );
    expect((await home.run`envelopes get ${String(made.id)}`).stdout).toMatch(new RegExp(`Replaces +${id}`));
  });
});

describe('the webhook secret', () => {
  it('is copied from the original if it is stored locally', async () => {
    const id = await lease('--send', '--webhook-url', 'http://127.0.0.1:9/hook');
    const { made } = await replaced(id, '--signer', RIGHT);
    const kept = parseJson(await home.shell('cat config/webhook-secrets.json').then(({ stdout }) => stdout));
    const secrets = isRecord(kept) && isList(kept.secrets) ? kept.secrets.filter(isRecord) : [];
    const secretOf = (envelope: unknown) => secrets.find(({ envelopeId }) => envelopeId === envelope)?.secret;
    expect([typeof secretOf(id), secretOf(made.id)]).toEqual(['string', secretOf(id)]);
  });
});

it('creates one envelope with three commands at the same time', async () => {
  const id = await lease('--send');
  const args = ['envelopes', 'replace', id, '--signer', RIGHT, '--json'];
  const runs = await Promise.all([home.run(args), home.run(args), home.run(args)]);
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  const [made, ...others] = await madeFor(id);
  expect(others).toEqual([]);
  expect(runs.map(({ stdout }) => part(stdout, 'new').id)).toEqual([made?.id, made?.id, made?.id]);
  expect(await requestsToSign(sandbox, String(made?.id))).toEqual(BOTH);
});
