import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { needsReader, strokesIn, textIn } from '../sandbox/papers/reader.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { closing } from '../support/closing.ts';
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

/** A wave across the pad, with the mouse. */
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

describe('in a browser', needsBrowser, () => {
  it('both signers sign, and the papers can be downloaded', async () => {
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
      expect(await page.getByRole('alert').innerText()).toContain('Signature (page 2) is required.');
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
    'a signature is drawn with the mouse, undone, drawn again, and stands on the paper as lines',
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
      await page.waitForSelector('text=Tick that you have read');
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

  it('a signer declines with a reason', async () => {
    const id = await sent('Ada <ada@example.com>');
    const { page, errors } = await open(browser);
    await openSigning(page, sandbox, 'ada@');
    await page.getByRole('button', { name: 'Decline…' }).click();
    await page.getByLabel(/Why/).fill('The rent is wrong');
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await page.waitForSelector('text=declined by Ada: The rent is wrong');
    expect(await home.object`envelopes get ${id}`).toMatchObject({ status: 'DECLINED' });
    expect(errors).toEqual([]);
  });

  it('on a phone the text can be read, fields are on their pages and one press away, and nothing else is wider than the screen', async () => {
    await sent('Bo Li <bo@example.com>');
    const { page, errors } = await open(browser, { width: 360, height: 740 });
    await openSigning(page, sandbox, 'bo@');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    // A page of 595 points has text of 10 points and smaller.
    expect((await page.locator('.page').first().boundingBox())?.width).toBeGreaterThan(600);
    expect(await page.locator('.page .field').count()).toBeGreaterThan(0);
    expect((await page.locator('.actions').boundingBox())?.height).toBeLessThan(70);
    await page.getByRole('button', { name: 'Next field' }).click();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Signature');
    await page.keyboard.type('Bo Li');
    await page.getByRole('button', { name: 'Next field' }).click();
    await page.keyboard.press('Space');
    expect(await page.getByLabel('I have read the document').isChecked()).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Everyone has signed');
    expect(errors).toEqual([]);
  });

  it('what is missing leads to its field, and declining does not look like signing', async () => {
    await sent('Cy <cy@example.com>');
    const { page } = await open(browser, { width: 390, height: 844 });
    await openSigning(page, sandbox, 'cy@');
    const colour = (name: string) =>
      page.evaluate(
        `getComputedStyle([...document.querySelectorAll('button')].findLast((one) => one.textContent === '${name}')).backgroundColor`,
      );
    await page.getByRole('button', { name: 'Sign', exact: true }).click();
    await page.waitForSelector('.pages[data-ready]');
    await page.getByRole('link', { name: 'Signature (page 2) is required.' }).click();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Signature');
    const box = await page.getByRole('textbox', { name: 'Signature' }).boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(844);
    await page.getByRole('button', { name: 'Decline…' }).click();
    expect(await colour('Decline')).not.toBe(await colour('Sign'));
  });
});
