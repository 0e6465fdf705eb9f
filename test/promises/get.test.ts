import { beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../src/webhooks/receive/signature.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, linesOf } from '../support/cli.ts';
import { openCommand } from '../support/pty.ts';

const SECRET = 'canarysecret-0123456789';
const home = new Home();
const signers = ['--signer', 'Ada Lovelace <ada@example.com>'];
let id: string;
let other: string;

const create = async () => String((await home.object`envelopes create --template tmpl_nda ${signers}`).id);

beforeAll(async () => {
  await home.sandbox();
  // One after the other: two equal creates at the same time count as one command that was interrupted.
  id = await create();
  other = await create();
  const listening = home.background(argv`listen --port 0 --json`, {
    env: { ESIGN_WEBHOOK_SECRET: SECRET },
  });
  const { url } = await listening.object();
  const deliver = async (event: string, timestamp: string, signature?: string) => {
    const signer = { email: 'ada@example.com\u001b[31m' };
    const body = JSON.stringify({ event, timestamp, data: { envelopeId: id, status: 'SENT', signer } });
    const headers = { 'X-Service-Signature': signature ?? sign(Buffer.from(body), SECRET) };
    await fetch(String(url), { method: 'POST', body, headers });
  };
  await deliver('envelope.signed', '2026-01-02T10:00:00Z');
  await deliver('envelope.sent', '2026-01-01T10:00:00Z');
  await deliver('envelope.sent', '2026-01-01T10:00:00Z');
  await deliver('envelope.declined', '2026-01-03T10:00:00Z', 'forged');
  await listening.stop();
});

describe('envelopes get --history', () => {
  it('shows each event once, in chronological order, and no refused ones', async () => {
    const { stdout } = await home.run`envelopes get ${id} --history`;
    expect(stdout).toContain(
      `History  2 webhooks received on this machine, 1 refused: \`esign events list ${id}\` shows why`,
    );
    const events = linesOf(stdout).filter((line) => line.includes('2026-01-0'));
    // The width of the column depends on how long ago the envelope was created.
    expect(events.map((line) => line.replace(/UTC.*ago +/, 'UTC  '))).toEqual([
      expect.stringMatching(/^ {2}2026-01-01 10:00:00 UTC {2}sent {5}ada@example.com␛\[31m {2}webhook$/),
      expect.stringMatching(/^ {2}2026-01-02 10:00:00 UTC {2}signed {3}ada@example.com␛\[31m {2}webhook$/),
    ]);
  });

  it('shows storage keys, dates, and esign metadata, which get alone leaves out', async () => {
    const brief = (await home.run`envelopes get ${id}`).stdout;
    const whole = (await home.run`envelopes get ${id} --history`).stdout;
    expect(brief).toContain('Ada Lovelace <ada@example.com>');
    expect(linesOf(brief).length).toBeLessThan(11);
    for (const detail of [/\besign\w+ /, /^ {2}Created /m, /document +esign\/envelopes\//]) {
      expect(brief).not.toMatch(detail);
      expect(whole).toMatch(detail);
    }
  });

  it('adds the history to the JSON only when requested', async () => {
    expect(await home.object`envelopes get ${id}`).not.toHaveProperty('history');
    const { history } = await home.object`envelopes get ${id} --history`;
    expect(history).toMatchObject([
      { event: 'envelope.sent', at: '2026-01-01T10:00:00Z', verified: true },
      { event: 'envelope.signed', at: '2026-01-02T10:00:00Z', verified: true },
    ]);
  });

  it('works for several envelopes, including one without events', async () => {
    const { code, stdout } = await home.run`envelopes get ${id} ${other} --history --json`;
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([
      { ok: true, envelope: { id, history: [{}, {}] } },
      { ok: true, envelope: { id: other, history: [] } },
    ]);
    const shown = await home.run`envelopes get ${other} --history`;
    expect(shown.stdout).toContain('no webhooks');
    // Its own dates count as history, too.
    expect(shown.stdout).toMatch(/\d UTC .* created/);
  });
});

it('shows the last reminder from this machine, and only commands that can be run', async () => {
  const bo = ['--signer', 'Bo <bo@example.com>'];
  const sent = String((await home.object`envelopes create --template tmpl_nda ${signers} ${bo} --send`).id);
  expect((await home.run`envelopes get ${sent}`).stdout).not.toContain('eminded');
  await home.run`envelopes remind ${sent}`;
  expect((await home.run`envelopes get ${sent}`).stdout).toContain('Reminded from this machine just now.');
  await home.run`envelopes remind ${sent} --signer bo@example.com`;
  const onScreen = async (args: readonly string[]) => {
    const screen = openCommand(home, args);
    expect((await screen.ended).code).toBe(0);
    return screen.text();
  };
  expect(await onScreen(['find', sent])).toContain('Bo was reminded from this machine just now.');
  const text = await onScreen(['envelopes', 'get', sent]);
  expect(text).toContain('Bo was reminded from this machine just now.');
  const next = linesOf(text).flatMap((line) => /(esign envelopes .*)/.exec(line)?.[1] ?? []);
  expect(next).toContain(`esign envelopes replace ${sent}`);
  // These two wait, and ask what to correct.
  for (const line of next.filter((one) => !/ (watch|replace) /.test(one)))
    expect([line, (await home.shell(`${line} --dry-run`)).code]).toEqual([line, 0]);
});
