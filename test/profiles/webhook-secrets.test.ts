import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWebhookSecrets, saveWebhookSecret } from '../../src/profiles/webhook-secrets.ts';

const NOW = Date.UTC(2026, 10, 23);
const DAY_MS = 86_400_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const secret = (requestId: string, createdAt: number) => ({
  baseUrl: 'https://x.example',
  requestId,
  secret: `whsec_${requestId}`,
  createdAt,
});
const stored = async () => (await readWebhookSecrets(folder)).map(({ requestId }) => requestId);

describe('the stored webhook secrets', () => {
  it('are all kept if one is stored while the clock is wrong by years', async () => {
    for (const [id, days] of [
      ['now', 0],
      ['future', 3_000],
      ['past', -3_000],
      ['again', 1],
    ] as const)
      await saveWebhookSecret(folder, secret(id, NOW + days * DAY_MS));
    expect(await stored()).toEqual(['now', 'future', 'past', 'again']);
  });

  it('lose those that are older than 400 days if there are more than 10,000', async () => {
    const ages = [401, 399, 500, ...Array.from({ length: 9_998 }, () => 600)];
    const secrets = ages.map((days, index) => secret(`r${index}`, NOW - days * DAY_MS));
    await writeFile(join(folder, 'webhook-secrets.json'), JSON.stringify({ secrets }));
    await saveWebhookSecret(folder, secret('new', NOW));
    const [first, second, ...rest] = await stored();
    expect([first, second, rest.length, rest.at(-1)]).toEqual(['r1', 'r2', 9_999, 'new']);
  });
});
