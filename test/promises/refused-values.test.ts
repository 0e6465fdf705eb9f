import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, linesOf, reportedError } from '../support/cli.ts';

/*
 * Values that are always mistakes: an empty one comes from an unset variable, and replacement characters from another
 * encoding. Nothing is sent.
 */
const home = new Home();
let sent = '';

beforeAll(async () => {
  await home.sandbox();
  sent = (
    await home.run`envelopes create --template tmpl_nda --signer ${'Ada <ada@example.com>'} --send -q`
  ).stdout.trim();
});
afterAll(() => home.close());

async function refusal(args: readonly string[], input?: string): Promise<string> {
  const finished = await home.run([...args, '--json'], input === undefined ? {} : { input });
  const { code, exitCode, message } = reportedError(finished);
  expect([finished.code, code, exitCode]).toEqual([2, 'USAGE', 2]);
  return String(message);
}

const CREATE = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Bo <bo@example.com>'];

describe('an empty value', () => {
  it.each([
    ['--signer', ['envelopes', 'list', '--signer', '']],
    ['--search', ['envelopes', 'list', '--search', ' ']],
    ['--search', ['templates', 'list', '--search=']],
    ['--signer', ['envelopes', 'download', '--signer', '']],
    ['--host', ['listen', '--no-verify', '--port', '0', '--host', '']],
    ['The argument envelope', ['events', 'list', '']],
    ['--request-id', [...CREATE, '--request-id', '']],
    ['--profile', ['envelopes', 'list', '-p', '']],
    [
      '--api-key-command',
      ['profiles', 'add', 'x', '--base-url', 'http://127.0.0.1:9/v1', '--api-key-command', ' '],
    ],
    ['The argument id', ['templates', 'get', '']],
    ['The argument id', ['envelopes', 'replace', '', '--yes']],
  ])('is refused for %s in %j', async (name, args) => {
    expect(await refusal(args)).toBe(`${name} is empty.`);
  });

  it('emails nobody as the signer of a reminder', async () => {
    expect(await refusal(['envelopes', 'remind', sent, '--signer', ''])).toBe('--signer is empty.');
    const mails = await home.run`sandbox mails --envelope ${sent} -q`;
    expect(linesOf(mails.stdout)).toHaveLength(1);
  });

  it('is accepted for free text', async () => {
    const created = await home.object([...CREATE, '--subject', '', '--message', '', '--dry-run']);
    expect(created).toMatchObject({ body: { subject: '', message: '' } });
    expect((await home.run`envelopes cancel ${sent} --reason ${''} --dry-run`).code).toBe(0);
  });
});

describe('an empty webhook secret', () => {
  const port = ['--to', 'http://127.0.0.1:9/webhooks'];

  it.each([
    ['nothing', ''],
    ['a line break', '\n'],
    ['empty lines', '\r\n \n'],
  ])('is refused by every command if the file contains %s', async (_, text) => {
    const file = ['--secret-file', home.path('empty-secret')];
    writeFileSync(home.path('empty-secret'), text);
    for (const args of [
      ['events', 'trigger', 'completed', ...port, ...file],
      ['events', 'drill', ...port, ...file],
      ['listen', '--port', '0', ...file],
    ])
      expect([args, await refusal(args)]).toEqual([args, expect.stringContaining('empty')]);
  });
});

it('refuses a key of two lines before it is sent', async () => {
  const env = { ESIGN_API_KEY: 'sk_one\nsk_two', ESIGN_BASE_URL: 'http://127.0.0.1:9/api/v1' };
  const finished = await home.run(['templates', 'list', '--json'], { env });
  expect([finished.code, reportedError(finished).code]).toEqual([2, 'USAGE']);
  expect(finished.stderr).not.toContain('sk_one');
});

describe('envelopes create', () => {
  it.each([
    ['message', 'Grüße'],
    ['signers', 'email,name\na@b.co,Jörg\n'],
    ['metadata', '{"name":"Jörg"}'],
  ])('refuses a %s file in another encoding', async (what, text) => {
    const path = home.path(what);
    writeFileSync(path, text, 'latin1');
    const message = await refusal([...CREATE, `--${what}-file`, path]);
    expect(message).toContain(path);
    expect(message).toContain('UTF-8');
  });

  it('refuses a number that would change in JSON, like bulk create', async () => {
    const number = '12345678901234567890';
    writeFileSync(home.path('big.json'), `{"text":"${number}","small":9007199254740991,"big":${number}}`);
    const file = ['--metadata-file', home.path('big.json')];
    expect(await refusal([...CREATE, ...file])).toContain(number);
    const row = { signers: [{ email: 'a@b.co' }], metadata: { big: 0 } };
    writeFileSync(home.path('big.jsonl'), JSON.stringify(row).replace('"big":0', `"big":-${number}`));
    const bulk = ['bulk', 'create', home.path('big.jsonl'), '--template', 'tmpl_nda'];
    expect(await refusal(bulk)).toMatch(new RegExp(`big\\.jsonl:1: .*-${number}`));
  });

  it('refuses metadata keys that esign reserves', async () => {
    expect(await refusal([...CREATE, '--metadata', 'esignRequestId=deal-1'])).toContain('is reserved');
  });

  it('accepts the metadata of another envelope, with a new request ID', async () => {
    writeFileSync(home.path('copy.json'), '{"deal":"4711","esignRequestId":"deal-4711"}');
    const created = await home.object([...CREATE, '--metadata-file', home.path('copy.json'), '--dry-run']);
    expect(created).toMatchObject({ body: { metadata: { deal: '4711' } } });
    expect(JSON.stringify(created)).not.toContain('deal-4711');
  });
});
