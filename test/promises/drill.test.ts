import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { DRILL_SECRET, receiver, serve } from '../support/receivers.ts';

const home = new Home();
const drill = (url: string, ...more: string[]) =>
  home.run`events drill --to ${url} --secret-file secret ${more}`;
beforeAll(() => writeFile(home.path('secret'), `${DRILL_SECRET}\n`));

/** The checks in their order, with the kind of response that each expects. */
const ACCEPTED = ['good', 'repeated', 'out-of-order'];
const FORGED = ['wrong-signature', 'missing-signature', 'short-signature'];
const OTHERS = ['raw-bytes', 'unknown-event', 'extra-fields', 'payload-shape', 'large', 'slow'];
const CHECKS = [...ACCEPTED, ...FORGED, 'changed-bytes', ...OTHERS];

describe('events drill', () => {
  it('reports that listen passes every check', async () => {
    const listening = home.background`listen --port 0 --secret-file secret --json`;
    const { url } = await listening.object();
    const { code, stdout, stderr } = await drill(String(url), '--json');
    await listening.stop();
    const lines = jsonLines(stdout);
    expect([code, stderr, lines.length]).toEqual([0, '', CHECKS.length]);
    for (const line of lines) expect(line).toMatchObject({ ok: true, finding: null });
    const ms: unknown = expect.any(Number);
    expect(lines[3]).toEqual({ check: 'wrong-signature', ok: true, status: 401, ms, finding: null });
  });

  it('exits with 10 and the failed checks for a receiver that accepts everything, without the secret', async () => {
    const { url, close } = await serve(receiver({ trusts: () => true }));
    const asJson = await drill(url.replace('http://', ''), '--json');
    const asText = await drill(url);
    await close();
    const wrong = jsonLines(asJson.stdout).filter((line) => isRecord(line) && line.ok === false);
    const finding = 'accepted (200); treat a missing signature as invalid: respond with 401';
    expect(wrong).toMatchObject([...FORGED, 'changed-bytes'].map((check) => ({ check, status: 200 })));
    expect(wrong[1]).toMatchObject({ finding });
    const message = `${url} failed 4 of 13 checks: ${FORGED.join(', ')}, changed-bytes.`;
    expect([asJson.code, jsonLines(asJson.stderr)]).toMatchObject([10, [{ error: { message } }]]);
    expect([asText.code, asText.stdout]).toEqual([
      10,
      expect.stringContaining(`missing-signature\twrong\t200\t`),
    ]);
    for (const { stdout, stderr } of [asJson, asText]) expect(stdout + stderr).not.toContain(DRILL_SECRET);
  });

  it('stops after the first check if valid deliveries are refused', async () => {
    const { url, close } = await serve(receiver({ trusts: () => false }));
    const { code, stdout } = await drill(url, '--json');
    await close();
    const finding: unknown = expect.stringMatching(
      /^envelope\.sent: refused \(401\); it has a different secret/,
    );
    expect([code, jsonLines(stdout)]).toMatchObject([
      10,
      [{ check: 'good', ok: false, status: 401, finding }],
    ]);
  });

  it('sends nothing with --dry-run', async () => {
    const { code, stdout } = await drill('localhost:9', '--json', '--dry-run');
    const lines = jsonLines(stdout);
    expect([code, lines.length]).toEqual([0, CHECKS.length]);
    expect(lines[0]).toEqual({ dryRun: true, action: 'check', id: 'good' });
  });

  it('exits with 8 if nothing is listening, and with 2 without a secret', async () => {
    const nobody = await drill('localhost:9/hooks', '--json');
    expect([nobody.code, nobody.stdout, reportedError(nobody).code]).toEqual([8, '', 'NETWORK']);
    expect((await home.run`events drill --to localhost:9/hooks`).code).toBe(2);
  });
});
