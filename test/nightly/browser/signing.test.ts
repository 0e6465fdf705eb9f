import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { needsReader, strokesIn, textIn } from '../../sandbox/reader.ts';
import { Home, type Sandbox } from '../../support/cli.ts';
import { closing } from '../../support/closing.ts';
import { launch, needsBrowser, open, openSigning } from './rig.ts';

const opened = closing();
const home = opened(new Home());
let browser: Browser;
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await home.sandbox();
  browser = opened(await launch());
});

async function sent(...signers: string[]): Promise<string> {
  const args = signers.flatMap((signer) => ['--signer', signer]);
  return String((await home.object`envelopes create --template tmpl_nda ${args} --send`).id);
}

/** Draws a wave across the pad with the mouse. */
async function drawOn(page: Page): Promise<void> {
  const box = await page.locator('.pad').boundingBox();
  if (!box) throw new Error('no pad');
  const at = (part: number): [number, number] => [
    box.x + box.width * (0.1 + 0.8 * part),
    box.y + box.height * (0.5 + 0.3 * Math.sin(part * 12)),
  ];
  await page.mouse.move(...at(0));
  await page.mouse.down();
  for (let step = 1; step <= 40; step++) await page.mouse.move(...at(step / 40));
  await page.mouse.up();
}

/** The primary button of the bar. */
function mainButton(page: Page): Promise<string> {
  return page.locator('.actions button.main:visible').innerText();
}

describe('signing in a browser', needsBrowser, () => {
  it('lets both signers sign and download the documents', async () => {
    const id = await sent(
      'Łukasz Řehoř <lukasz@example.com>;role=Signer',
      '李小龍 <li@example.com>;role=Signer',
    );
    const { page, errors } = await open(browser);
    for (const [address, name] of [
      ['lukasz@', 'Łukasz Řehoř'],
      ['li@', '李小龍'],
    ] as const) {
      await openSigning(page, sandbox, address);
      expect(await page.locator('.page > canvas').count()).toBe(2);
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      expect(await page.getByRole('alert').getByRole('link').first().getAttribute('href')).toBe(
        '#nda_signature',
      );
      await page.waitForSelector('.pages[data-ready]');
      await page.getByRole('textbox', { name: 'Signature' }).fill(name);
      await page.getByLabel('I have read the document').check();
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      await page.waitForSelector('text=/You have signed|Everyone has signed/');
    }
    expect(await home.object`envelopes get ${id}`).toMatchObject({ status: 'COMPLETED' });
    const url = await page.getByRole('link', { name: 'Signed document' }).getAttribute('href');
    const reply = await page.request.get(new URL(url ?? '', sandbox.baseUrl).href);
    expect((await reply.body()).subarray(0, 5).toString()).toBe('%PDF-');
    expect(errors.filter((text) => !text.includes('400'))).toEqual([]);
  });

  it(
    'draws a signature with the mouse, undoes a stroke, and draws it as lines in the signed document',
    needsReader,
    async () => {
      const id = await sent('Ada <ada-draws@example.com>');
      const { page, errors } = await open(browser);
      await openSigning(page, sandbox, 'ada-draws@');
      await page.getByRole('button', { name: 'Draw: Signature' }).click();
      const pad = page.getByRole('dialog');
      expect(await pad.getByRole('button', { name: 'Use it' }).isDisabled()).toBe(true);
      await drawOn(page);
      await drawOn(page);
      await pad.getByRole('button', { name: 'Undo' }).click();
      await pad.getByRole('button', { name: 'Use it' }).click();
      const shown = page.getByRole('button', { name: 'Signature, drawn: draw it again' });
      await shown.waitFor();
      expect(await page.getByRole('textbox', { name: 'Signature' }).isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      await page.getByRole('alert').waitFor();
      await page.waitForSelector('.pages[data-ready]');
      expect(await page.getByRole('button', { name: 'Signature, drawn: draw it again' }).isVisible()).toBe(
        true,
      );
      await page.getByLabel('I have read the document').check();
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      const url = await page.getByRole('link', { name: 'Signed document' }).getAttribute('href');
      const reply = await page.request.get(new URL(url ?? '', sandbox.baseUrl).href);
      const pdf = new Uint8Array(await reply.body());
      const box = { page: 2, x: 64, y: 530, width: 222, height: 58 };
      const points = await strokesIn(pdf, 2);
      expect(points.length).toBeGreaterThan(20);
      for (const { x, y } of points) {
        expect(x).toBeGreaterThan(box.x);
        expect(x).toBeLessThan(box.x + box.width);
        expect(y).toBeGreaterThan(box.y);
        expect(y).toBeLessThan(box.y + box.height);
      }
      expect(textIn(pdf, box)).toContain('Signed by Ada');
      expect(await home.object`envelopes get ${id}`).toMatchObject({ status: 'COMPLETED' });
      expect(errors.filter((text) => !text.includes('400'))).toEqual([]);
    },
  );

  it('declines with a reason', async () => {
    const id = await sent('Ada <ada@example.com>');
    const { page, errors } = await open(browser);
    await openSigning(page, sandbox, 'ada@');
    await page.getByRole('button', { name: 'Decline…' }).click();
    await page.getByLabel(/^Reason/).fill('The rent is wrong');
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await page.waitForSelector('text=declined by Ada: The rent is wrong');
    expect(await home.object`envelopes get ${id}`).toMatchObject({ status: 'DECLINED' });
    expect(errors).toEqual([]);
  });

  it('fits a phone: pages without horizontal scrolling, and large fields below them', async () => {
    await sent('Bo Li <bo@example.com>');
    const { page, errors } = await open(browser, { width: 360, height: 740 });
    await openSigning(page, sandbox, 'bo@');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    const heights = (selector: string) =>
      page.evaluate(
        `[...document.querySelectorAll('${selector}')].map((one) => one.getBoundingClientRect().height)`,
      );
    for (const selector of [
      '.signing .field input[type="text"]',
      '.signing .field input[type="date"]',
      '.actions button',
    ])
      for (const height of z.array(z.number()).parse(await heights(`${selector}:not([hidden])`)))
        expect(height, selector).toBeGreaterThanOrEqual(43);
    // A marker on a page leads to its field.
    await page.getByRole('button', { name: 'Go to Signature' }).click();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Signature');
    expect(await mainButton(page)).toBe('Next field');
    await page.keyboard.type('Bo Li');
    await page.getByRole('button', { name: 'Next field' }).click();
    await page.keyboard.press('Space');
    expect(await page.getByLabel('I have read the document').isChecked()).toBe(true);
    expect(await mainButton(page)).toBe('Sign');
    await page.getByRole('button', { name: 'Sign', exact: true }).click();
    await page.waitForSelector('text=Everyone has signed');
    expect(errors).toEqual([]);
  });

  it('keeps the entered text when a phone is rotated and the fields move to the pages', async () => {
    await sent('Di <di@example.com>');
    const { page, errors } = await open(browser, { width: 390, height: 844 });
    await openSigning(page, sandbox, 'di@');
    await page.getByRole('textbox', { name: 'Signature' }).fill('Di');
    await page.setViewportSize({ width: 844, height: 390 });
    const field = page
      .locator('.page .field')
      .filter({ has: page.getByRole('textbox', { name: 'Signature' }) });
    await field.waitFor();
    const [box, sheet] = [await field.boundingBox(), await field.locator('..').boundingBox()];
    expect(await page.getByRole('textbox', { name: 'Signature' }).inputValue()).toBe('Di');
    // The field is at x = 64 of 595.28 points.
    expect((box?.x ?? 0) - (sheet?.x ?? 0)).toBeCloseTo(((sheet?.width ?? 0) * 64) / 595.28, -1);
    expect(errors).toEqual([]);
  });

  it('shows signers no sandbox navigation, and opens the decline dialog from the envelope', async () => {
    const id = await sent('Ed <ed@example.com>');
    const { page } = await open(browser);
    await page.goto(new URL(`/envelopes/${id}`, sandbox.baseUrl).href);
    expect(await page.locator('nav [aria-current]').innerText()).toBe('Envelopes');
    await page.getByRole('link', { name: 'Decline' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).waitFor();
    expect(await page.locator('header a').count()).toBe(0);
  });

  it('links to missing fields, and styles the decline button differently from the sign button', async () => {
    await sent('Cy <cy@example.com>');
    const { page } = await open(browser, { width: 390, height: 844 });
    await openSigning(page, sandbox, 'cy@');
    const color = (name: string) =>
      page.evaluate(
        `getComputedStyle([...document.querySelectorAll('button')].findLast((one) => one.textContent === '${name}')).backgroundColor`,
      );
    await page.getByRole('button', { name: 'Sign', exact: true }).click();
    await page.waitForSelector('.pages[data-ready]');
    await page.getByRole('alert').getByRole('link').first().click();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Signature');
    const box = await page.getByRole('textbox', { name: 'Signature' }).boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(844);
    await page.getByRole('button', { name: 'Decline…' }).click();
    expect(await color('Decline')).not.toBe(await color('Sign'));
  });
});
