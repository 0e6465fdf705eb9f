import { writeFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../../src/webhooks/receive/signature.ts';
import { Home } from '../../support/cli.ts';
import { closing } from '../../support/closing.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { launch, needsBrowser, open } from './rig.ts';

const opened = closing();
const secret = 'whsec_0123456789abcdef';
let browser: Browser;
let target: TestServer;
let received = 0;

beforeAll(async () => {
  target = opened(
    await startServer((_, response) => {
      received++;
      response.end('ok');
    }),
  );
  browser = opened(await launch());
});

/** Starts a listener with an inspector, without earlier deliveries. */
async function startListener() {
  const home = opened(new Home());
  await writeFile(home.path('secret'), secret);
  const words = ['listen', '--port', '0', '--json', '--inspect', '--secret-file', 'secret'];
  const ready = await home.start`${words} --forward-to ${target.origin}/hooks`.object();
  const deliver = async (event: string, envelopeId: string, title = '', known = secret) => {
    const body = JSON.stringify({ event, timestamp: new Date().toISOString(), data: { envelopeId, title } });
    const headers = { 'x-service-signature': sign(Buffer.from(body), known) };
    await fetch(String(ready.url), { method: 'POST', body, headers });
  };
  return { inspector: String(ready.inspectorUrl), deliver };
}

describe('the inspector in a browser', needsBrowser, () => {
  it('shows deliveries as they arrive, filters, explains, and resends one', async () => {
    const { page, errors } = await open(browser);
    const { inspector, deliver } = await startListener();
    await page.goto(inspector);
    await page.getByText('No deliveries yet').waitFor();
    await deliver('envelope.sent', 'env_a');
    await deliver('envelope.completed', 'env_b', '<img src=x onerror=document.title="owned">');
    await deliver('envelope.signed', 'env_c', '', 'another-secret-0123456789');
    await page.getByText('3 deliveries').waitFor();
    const rows = page.getByRole('list', { name: /Deliveries/ }).getByRole('listitem');
    expect(await rows.count()).toBe(3);

    await page.getByLabel('Signature').selectOption('refused');
    await expect.poll(() => rows.count()).toBe(1);
    await rows.first().click();
    const detail = page.getByRole('region', { name: 'Opened delivery' });
    await detail.getByText('Refused with 401').waitFor();
    expect(await detail.getByRole('button', { name: 'Replay' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => rows.count()).toBe(3);

    await rows.filter({ hasText: 'env_b' }).click();
    await detail.getByText('Valid signature').waitFor();
    await detail.getByText('onerror').waitFor();
    const before = received;
    await detail.getByRole('button', { name: 'Replay' }).click();
    await expect.poll(() => received).toBe(before + 1);
    expect(await page.title()).not.toBe('owned');
    expect(errors).toEqual([]);
  });

  it('fits a phone, and shows deliveries from before it was opened', async () => {
    const { page, errors } = await open(browser, { width: 375, height: 740 });
    const { inspector, deliver } = await startListener();
    await deliver('envelope.sent', 'env_a');
    await deliver('envelope.signed', 'env_b', '', 'another-secret-0123456789');
    await page.goto(inspector);
    const rows = page.getByRole('list', { name: /Deliveries/ }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await rows.first().click();
    await page.getByText('What happened').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
    expect(errors).toEqual([]);
  });
});
