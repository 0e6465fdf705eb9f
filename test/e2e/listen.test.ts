import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../src/webhooks/signature.ts';
import { Home } from '../support/cli.ts';

const home = new Home();
const [old, next] = ['canary-old-secret-0123456789', 'canary-new-secret-0123456789'];

beforeAll(async () => {
  await home.sandbox();
  await Promise.all([writeFile(home.path('old'), `${old}\n`), writeFile(home.path('new'), next)]);
});
afterAll(() => home.close());

describe('listen', () => {
  it("receives the sandbox's webhooks, verified, in order, and sums up at the end", async () => {
    const listening = home.start(['listen', '--port', '0', '--secret-file', 'old', '--json']);
    const { url } = await listening.object();
    const create = [
      'envelopes',
      'create',
      '--template',
      'tmpl_nda',
      '--signer',
      'Ada <ada@example.com>',
      '--send',
    ];
    const envelope = await home.object([
      ...create,
      '--webhook-url',
      String(url),
      '--webhook-secret-file',
      'old',
    ]);
    await home.run(['sandbox', 'sign', String(envelope.id)]);
    const events = [];
    for (let i = 0; i < 4; i++) events.push(await listening.object());
    expect(events.map((one) => one.event)).toEqual([
      'envelope.sent',
      'envelope.viewed',
      'envelope.signed',
      'envelope.completed',
    ]);
    for (const event of events) {
      expect(event).toMatchObject({
        type: 'delivery',
        verified: true,
        duplicate: false,
        reason: null,
        envelopeId: envelope.id,
      });
    }
    expect(events[2]).toMatchObject({
      body: { event: 'envelope.signed', data: { signer: { email: 'ada@example.com' } } },
    });
    const stopped = listening.stop('SIGTERM');
    expect(await listening.object()).toEqual({
      type: 'summary',
      received: 4,
      verified: 4,
      refused: 0,
      duplicates: 0,
    });
    expect(await stopped).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('takes several secrets, refuses the unsigned, and shows no secret', async () => {
    const listening = home.start(['listen', '--port', '0', '--secret-file', 'old', '--secret-file', 'new']);
    const body = '{"event":"envelope.sent","data":{"envelopeId":"env_\\u001b[31m1"}}';
    const stderr = listening.stderr;
    await home.run(['--version']);
    const url = await readyUrl(listening.child.stderr);
    const post = (signature: string) =>
      fetch(url, { method: 'POST', body, headers: { 'X-Service-Signature': signature } });
    const answers = [];
    for (const signature of [
      sign(Buffer.from(body), old),
      `sha256=${sign(Buffer.from(body), next)}`,
      'nonsense',
    ]) {
      answers.push((await post(signature)).status);
    }
    expect(answers).toEqual([200, 200, 401]);
    const lines = [await listening.line(), await listening.line(), await listening.line()];
    expect(lines[0]).toContain('\tverified\t');
    expect(lines[2]).toMatch(/unverified\tthe signature is not lowercase hex$/);
    expect(lines.join('\n')).not.toContain('\u001b');
    await listening.stop();
    expect(lines.join('\n') + (await stderr)).not.toContain('canary');
  });

  it('needs a secret, or to be told to take everything', async () => {
    const [none, short] = await Promise.all([
      home.run(['listen', '--port', '0']),
      home.run(['listen', '--port', '0', '--secret-file', 'missing']),
    ]);
    expect([none.code, short.code]).toEqual([2, 2]);
    expect(none.stderr).toContain('--no-verify');
    expect(short.stderr).toContain("Can't read the webhook secret");
  });

  it('shows only the events asked for', async () => {
    const listening = home.start(['listen', '--port', '0', '--no-verify', '--events', 'completed', '--json']);
    const { url } = await listening.object();
    await listening.object();
    for (const event of ['envelope.sent', 'envelope.completed']) {
      await fetch(String(url), { method: 'POST', body: JSON.stringify({ event, data: {} }) });
    }
    expect(await listening.object()).toMatchObject({ event: 'envelope.completed', verified: false });
    await listening.stop();
  });
});

/** The address that is announced to people on stderr. */
function readyUrl(stderr: NodeJS.ReadableStream | null): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stderr?.on('data', (chunk) => {
      text += String(chunk);
      const url = /Listening at (\S+?)\.(?:\s|$)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
