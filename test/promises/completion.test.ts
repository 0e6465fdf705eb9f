import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, reportedError } from '../support/cli.ts';
import { serviceToComplete, UNPRINTABLE } from '../support/completing.ts';

const home = new Home();
let env: Record<string, string>;

beforeAll(async () => {
  const templates = ['tmpl_a', ...UNPRINTABLE].map((id) => ({ id, name: `\u001b[31m:x ${id}` }));
  env = await serviceToComplete(home, templates);
});

/** The lines that the scripts receive, after the first one. */
async function candidates(shell: string, current: string, ...words: string[]): Promise<string[]> {
  const { stdout, stderr, code } = await home.run(argv`__complete ${shell} =${current} ${words}`, { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd().split('\n').slice(1);
}
const values = async (current: string, ...words: string[]) =>
  (await candidates('zsh', current, ...words)).map((line) => line.split('\t')[0]);

describe('completion', () => {
  it('suggests commands, topics, and flags that are not on the line yet', async () => {
    expect(await values('')).toEqual(expect.arrayContaining(['api', 'doctor', 'envelopes', 'profiles']));
    expect(await values('', 'envelopes')).toEqual(expect.arrayContaining(['create', 'list', 'watch']));
    expect(await values('--st', 'envelopes', 'list')).toEqual(['--status']);
    expect(await values('--st', 'envelopes', 'list', '--status', 'SENT')).toEqual([]);
    expect(await values('--si', 'envelopes', 'create', '--signer', 'a@b.c')).toEqual(
      expect.arrayContaining(['--signer']),
    );
    expect(await values('--no-v', 'profiles', 'add')).toEqual(['--no-verify']);
    expect(await values('', 'nonsense')).toEqual([]);
  });

  it('suggests statuses and documents in lists, each once', async () => {
    expect(await values('SENT,CO', 'envelopes', 'list', '--status')).toEqual(['SENT,COMPLETED']);
    expect(await values('--until=DE', 'envelopes', 'watch')).toEqual(['--until=DECLINED']);
    expect(await values('signed,s', 'envelopes', 'download', '--what')).toEqual([]);
  });

  it('suggests envelopes in a state that the command accepts', async () => {
    expect(await values('', 'envelopes', 'send')).toEqual(['env_draft']);
    expect(await values('', 'envelopes', 'remind')).toEqual(['env_sent', 'env_in_progress']);
    expect(await values('', 'envelopes', 'get', 'env_sent', '--json')).toEqual([
      'env_draft',
      'env_in_progress',
      'env_completed',
    ]);
    expect(await candidates('fish', 'env_s', 'envelopes', 'get')).toEqual(['env_sent\tSENT · Lease']);
  });

  it('suggests every template that was shown, also those of envelopes', async () => {
    expect(await values('tmpl_', 'envelopes', 'create', '--template')).toEqual(['tmpl_lease', 'tmpl_a']);
  });

  it('suggests nothing of one key to another', async () => {
    const words = ['__complete', 'zsh', '=', 'envelopes', 'get'];
    for (const other of [
      { ESIGN_API_KEY: 'sk_other_9876543210' },
      { ESIGN_BASE_URL: 'http://127.0.0.1:9/v1' },
    ])
      expect((await home.run(words, { env: { ...env, ...other } })).stdout).toBe(':none\n');
    expect((await home.run([...words, '--base-url', 'http://127.0.0.1:9/v1'], { env })).stdout).toBe(
      ':none\n',
    );
  });

  it("suggests profile names, even from a store that esign didn't write", async () => {
    const folder = home.path('config');
    const profile = { baseUrl: 'https://x.example/v1', apiKey: 'sk_canary_0123456789' };
    await home.run(['profiles', 'add', 'acme', '--base-url', 'https://x.example/v1', '--no-verify'], { env });
    await writeFile(
      `${folder}/profiles.json`,
      JSON.stringify({ profiles: { acme: profile, 'b\u001b[31m': profile } }),
    );
    expect(await values('', 'profiles', 'use')).toEqual(['acme']);
    expect(await values('', 'templates', 'list', '-p')).toEqual(['acme']);
    expect(await values('', 'profiles', 'add')).toEqual([]);
  });

  it('suggests files and folders where they are expected', async () => {
    const first = async (...words: string[]) =>
      (await home.run(argv`__complete zsh = ${words}`, { env })).stdout.split('\n')[0];
    expect(await first('envelopes', 'create', '--message-file')).toBe(':files');
    expect(await first('demo', '--dir')).toBe(':dirs');
    expect(await first('envelopes', 'list', '--signer')).toBe(':none');
  });

  it('leaves out IDs with line breaks, and makes descriptions safe', async () => {
    expect(await candidates('zsh', '', 'templates', 'get')).toEqual(['tmpl_lease', 'tmpl_a\t␛[31m:x tmpl_a']);
  });

  it('prints nothing, not even an error, when everything is broken', async () => {
    const broken = { ...env, ESIGN_STATE_DIR: '/dev/null/x', ESIGN_CONFIG_DIR: '/dev/null/y' };
    for (const words of [[], ['tcsh', '='], ['bash'], ['zsh', '=', 'templates', 'get']]) {
      const found = await home.run(argv`__complete ${words}`, { env: broken });
      expect([found.code, found.stderr]).toEqual([0, '']);
    }
  });
});

describe('esign autocomplete', () => {
  it('prints a script and nothing else', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout, stderr } = await home.run`autocomplete ${shell}`;
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('esign __complete');
      expect(stdout).not.toMatch(/\beval\b|Invoke-Expression|\biex\b/);
    }
  });

  it('requires a shell name in a pipe', async () => {
    expect(reportedError(await home.run`autocomplete --json`)).toMatchObject({
      code: 'USAGE',
      exitCode: 2,
    });
    expect((await home.run`autocomplete tcsh`).code).toBe(2);
  });
});
