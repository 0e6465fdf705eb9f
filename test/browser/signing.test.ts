import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, type Sandbox } from '../support/cli.ts';

/*
 * The pages as people use them, in Debian's Chromium. Without it the tests are skipped, visibly; not in CI.
 */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const skip = !existsSync(CHROMIUM) && !process.env.CI;
const home = new Home();
let browser: Browser;
let sandbox: Sandbox;

beforeAll(async () => {
  if (skip) return;
  sandbox = await home.sandbox();
  const quiet = [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...quiet] });
});
afterAll(async () => {
  if (!skip) await browser.close();
  await home.close();
});

async function sent(...signers: string[]): Promise<string> {
  const args = signers.flatMap((signer) => ['--signer', signer]);
  return String((await home.object(['envelopes', 'create', '--template', 'tmpl_nda', ...args, '--send'])).id);
}

/** A page that fails the test when anything goes wrong in it. */
async function open(
  options: { width?: number; height?: number } = {},
): Promise<{ page: Page; errors: string[] }> {
  const { width = 1280, height = 900 } = options;
  const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return { page, errors };
}

/** From the mailbox to the signing page, its pages drawn. */
async function openLink(page: Page, address: string): Promise<void> {
  await page.goto(new URL(`/mailbox?to=${address}`, sandbox.baseUrl).href);
  await page
    .getByRole('link', { name: /Please sign/ })
    .first()
    .click();
  await page.getByRole('link', { name: 'Open and sign' }).click();
  await page.waitForSelector('.pages[data-ready]');
}

describe.skipIf(skip)('in a browser', () => {
  it('both signers sign, and the papers can be downloaded', async () => {
    const id = await sent(
      'Łukasz Řehoř <lukasz@example.com>;role=Signer',
      '李小龍 <li@example.com>;role=Signer',
    );
    const { page, errors } = await open();
    for (const [address, name] of [
      ['lukasz@', 'Łukasz Řehoř'],
      ['li@', '李小龍'],
    ] as const) {
      await openLink(page, address);
      expect(await page.locator('.page canvas').count()).toBe(2);
      await page.getByRole('button', { name: 'Sign' }).click();
      expect(await page.getByRole('alert').innerText()).toContain('Signature (page 2) is required.');
      await page.waitForSelector('.pages[data-ready]');
      await page.getByLabel('Signature').fill(name);
      await page.getByLabel('I have read the document').check();
      await page.getByRole('button', { name: 'Sign' }).click();
      await page.waitForSelector('text=/You have signed|Everyone has signed/');
    }
    expect(await home.object(['envelopes', 'get', id])).toMatchObject({ status: 'COMPLETED' });
    const url = await page.getByRole('link', { name: 'Signed document' }).getAttribute('href');
    const reply = await page.request.get(new URL(url ?? '', sandbox.baseUrl).href);
    expect((await reply.body()).subarray(0, 5).toString()).toBe('%PDF-');
    expect(errors.filter((text) => !text.includes('400'))).toEqual([]);
  });

  it('a signer declines with a reason', async () => {
    const id = await sent('Ada <ada@example.com>');
    const { page, errors } = await open();
    await openLink(page, 'ada@');
    await page.getByRole('button', { name: 'Decline…' }).click();
    await page.getByLabel(/Why/).fill('The rent is wrong');
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await page.waitForSelector('text=declined by Ada: The rent is wrong');
    expect(await home.object(['envelopes', 'get', id])).toMatchObject({ status: 'DECLINED' });
    expect(errors).toEqual([]);
  });

  it('a phone shows the pages and the fields below them, nothing wider than its screen; the keyboard is enough', async () => {
    await sent('Bo Li <bo@example.com>');
    const { page, errors } = await open({ width: 360, height: 740 });
    await openLink(page, 'bo@');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.screenshot({ path: home.path('phone.png'), fullPage: true });
    expect((await readFile(home.path('phone.png'))).byteLength).toBeGreaterThan(10_000);
    await page.getByLabel('Signature').focus();
    await page.keyboard.type('Bo Li');
    await page.getByLabel('I have read the document').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Everyone has signed');
    expect(errors).toEqual([]);
  });
});
