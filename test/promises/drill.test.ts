import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { DRILL_SECRET, FAULTY, receiver, serve } from '../support/receivers.ts';

const home = new Home();
const drill = (url: string, ...more: string[]) =>
  home.run`events drill --to ${url} --secret-file secret ${more}`;
beforeAll(() => writeFile(home.path('secret'), `${DRILL_SECRET}\n`));
afterAll(() => home.close());

describe('events drill', () => {
  it('sends nothing with --dry-run', async () => {
    const { code, stdout } = await drill('localhost:9', '--json', '--dry-run');
    const lines = jsonLines(stdout);
    expect([code, lines.length]).toEqual([0, 14]);
    expect(lines[0]).toEqual({ dryRun: true, action: 'check', id: 'good' });
  });

  it('passes for listen', async () => {
    const listening = home.background`listen --port 0 --secret-file secret --json`;
    const { url } = await listening.object();
    const { code, stdout, stderr } = await drill(String(url), '--json');
    await listening.stop();
    const lines = jsonLines(stdout);
    expect([code, stderr, lines.length]).toEqual([0, '', 14]);
    for (const line of lines) expect(line).toMatchObject({ ok: true, finding: null });
    expect(lines[3]).toEqual({
      check: 'wrong-signature',
      ok: true,
      status: 401,
      ms: expect.any(Number) as unknown,
      finding: null,
    });
  });

  it('exits with 10 and the failed checks for a faulty receiver, without the secret', async () => {
    const { url, close } = await serve(receiver(FAULTY[2]?.steps));
    const asJson = await drill(url.replace('http://', ''), '--json', '--events', 'signed,completed');
    const asText = await drill(url);
    await close();
    const wrong = jsonLines(asJson.stdout).filter((line) => isRecord(line) && line.ok === false);
    const finding = 'accepted (200); treat a missing signature as invalid: respond with 401';
    expect(wrong).toMatchObject([{ check: 'missing-signature', status: 200, finding }]);
    const [report] = jsonLines(asJson.stderr);
    const message = `${url} failed 1 of 14 checks: missing-signature.`;
    expect([asJson.code, report]).toMatchObject([10, { error: { message } }]);
    expect([asText.code, asText.stdout]).toEqual([
      10,
      expect.stringContaining(`missing-signature\twrong\t200\t`),
    ]);
    expect(asText.stdout).toContain(`\t${finding}\n`);
    for (const { stdout, stderr } of [asJson, asText]) expect(stdout + stderr).not.toContain(DRILL_SECRET);
  });

  it('stops immediately on Ctrl-C, even during a single delivery, and reports only completed checks', async () => {
    let seen: () => void = () => undefined;
    const { url, close } = await serve(() => seen());
    const stopped = async (words: string) => {
      const asked = new Promise<void>((resolve) => {
        seen = resolve;
      });
      const running = home.start([...words.split(' '), '--to', url, '--secret-file', 'secret']);
      await asked;
      const started = running.stop('SIGINT');
      return { ...(await started), stderr: await running.stderr };
    };
    expect(await stopped('events drill')).toEqual({ code: null, signal: 'SIGINT', stderr: '' });
    expect(await stopped('events trigger signed')).toEqual({ code: null, signal: 'SIGINT', stderr: '' });
    await close();
  });

  it('exits with 8 if nothing is listening, and with 2 without a secret or for an unknown event', async () => {
    const nobody = await drill('localhost:9/hooks', '--json');
    expect([nobody.code, nobody.stdout, reportedError(nobody).code]).toEqual([8, '', 'NETWORK']);
    expect((await home.run`events drill --to localhost:9/hooks`).code).toBe(2);
    expect((await drill('localhost:9/hooks', '--events', 'singed')).code).toBe(2);
  });
});
