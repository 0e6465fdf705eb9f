import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Sandbox } from '../../support/cli.ts';
import { needs, toolPath } from '../../support/tools.ts';

/** For tests that open pages. */
export const needsBrowser = needs('chromium');

export function launch(): Promise<Browser> {
  const quiet = [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath: toolPath('chromium') ?? '', args: ['--no-sandbox', ...quiet] });
}

/** A page and its errors; tests expect none. */
export async function open(
  browser: Browser,
  options: { width?: number; height?: number } & Pick<BrowserContextOptions, 'hasTouch' | 'colorScheme'> = {},
): Promise<{ page: Page; errors: string[] }> {
  const { width = 1280, height = 900, ...more } = options;
  const context = await browser.newContext({ viewport: { width, height }, ...more });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return { page, errors };
}

/** Follows the link from the mailbox of this address to the signing page, and waits until its pages are drawn. */
export async function openSigning(page: Page, { baseUrl }: Sandbox, address: string): Promise<void> {
  await page.goto(new URL(`/mailbox?to=${address}`, baseUrl).href);
  await page
    .getByRole('link', { name: /Please sign/ })
    .first()
    .click();
  await page.getByRole('link', { name: 'Open and sign' }).click();
  await page.waitForSelector('.pages[data-ready]');
}
