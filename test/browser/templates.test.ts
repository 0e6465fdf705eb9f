import { writeFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { needsReader, strokesIn, textIn } from '../sandbox/documents/reader.ts';
import { plainPdf, protectedPdf } from '../sandbox/documents/uploads.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { closing } from '../support/closing.ts';
import { dragOn, launch, needsBrowser, open, openSigning } from './rig.ts';

const opened = closing();
const home = opened(new Home());
let browser: Browser;
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await home.sandbox();
  browser = opened(await launch());
  await writeFile(home.path('sale.pdf'), await plainPdf());
  await writeFile(home.path('protected.pdf'), await protectedPdf());
  await writeFile(home.path('large.pdf'), Buffer.alloc(12_000_000, '%PDF-'));
});

async function upload(page: Page, file: string, roles: string): Promise<void> {
  await page.goto(new URL('/templates', sandbox.baseUrl).href);
  await page.getByText('Upload a PDF').click();
  await page.getByLabel(/^PDF/).setInputFiles(home.path(file));
  await page.getByLabel(/^Roles/).fill(roles);
  await page.getByRole('button', { name: 'Upload' }).click();
}

async function save(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/\?saved$/);
  return /templates\/(\w+)/.exec(page.url())?.[1] ?? '';
}

const numbersOf = (page: Page, row: number) =>
  Promise.all(
    ['page', 'x', 'y', 'width', 'height'].map(async (name) =>
      Number(await page.locator(`[name="${row}.${name}"]`).inputValue()),
    ),
  );

describe('the template editor in a browser', needsBrowser, () => {
  it(
    'places fields by mouse and keyboard; an envelope from the template is signed on its page',
    needsReader,
    async () => {
      const { page, errors } = await open(browser);
      await upload(page, 'sale.pdf', 'Seller');
      await page.waitForSelector('.pages[data-ready]');
      await dragOn(page, '.page', [0.1, 0.5], [0.4, 0.56]);
      const [number, x = 0, y = 0, width = 0, height = 0] = await numbersOf(page, 0);
      expect(number).toBe(1);
      expect(Math.abs(x - 59.5) + Math.abs(width - 178.5)).toBeLessThan(4);
      expect(Math.abs(y - 421) + Math.abs(height - 50.5)).toBeLessThan(4);

      // Move its box by mouse, then by keys, and resize it by its corner.
      await dragOn(page, '.box', [0.5, 0.5], [1, 0.5]);
      const [, moved = 0] = await numbersOf(page, 0);
      expect(Math.abs(moved - x - width / 2)).toBeLessThan(4);
      await page.locator('.box').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+ArrowRight');
      expect(await numbersOf(page, 0)).toEqual([1, moved, y + 1, width + 1, height]);
      await dragOn(page, '.box > i', [0.5, 0.5], [0.5, 2]);
      expect((await numbersOf(page, 0))[4]).toBeGreaterThan(height);

      // Add the second field without the mouse, then add and remove a third.
      await page.getByRole('button', { name: 'Add a field' }).focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('Price');
      const row = page.locator('.row-field').nth(1);
      await row.getByLabel('Type').selectOption('TEXT');
      for (const [name, value] of [
        ['y', '300'],
        ['Page', '2'],
      ] as const)
        await row.getByLabel(name, { exact: true }).fill(value);
      expect(await page.locator('.page').nth(1).locator('.box').innerText()).toBe('Price');
      await dragOn(page, '.page', [0.1, 0.7], [0.4, 0.76]);
      await page.locator('.box', { hasText: 'Signature' }).last().press('Delete');
      expect(await page.locator('.box').count()).toBe(2);

      const id = await save(page);
      expect(await home.object`templates get ${id}`).toMatchObject({
        name: 'sale',
        fields: [
          { fieldId: 'signature_1', page: 1 },
          { fieldId: 'price_1', type: 'TEXT', page: 2 },
        ],
      });
      const create = ['envelopes', 'create', '--template', id, '--signer', 'Ada <ada@example.com>', '--send'];
      const envelope = String((await home.object(create)).id);
      await openSigning(page, sandbox, 'ada@');
      await page.getByRole('button', { name: 'Draw: Signature' }).click();
      await dragOn(page, '.pad', [0.2, 0.2], [0.8, 0.8]);
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByLabel('Price', { exact: true }).fill('1,200');
      await page.getByLabel('I have read the document').check();
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      await page.waitForSelector('text=Everyone has signed');
      expect(await home.object`envelopes get ${envelope}`).toMatchObject({ status: 'COMPLETED' });
      const pdf = new Uint8Array(await (await page.request.get(`${page.url()}/signed.pdf`)).body());
      expect(textIn(pdf, { page: 2, x: 64, y: 300, width: 180, height: 20 })).toBe('1,200');
      const strokes = await strokesIn(pdf, 1);
      expect(strokes.length).toBeGreaterThan(2);
      for (const point of strokes) {
        expect(point.x > moved && point.x < moved + width + 1).toBe(true);
        expect(point.y > y && point.y < y + 2 * height).toBe(true);
      }
      await page.goto(new URL(`/templates/${id}`, sandbox.baseUrl).href);
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
      expect(errors).toEqual([]);
    },
  );

  it('works by touch on a phone, without horizontal scrolling', async () => {
    const { page, errors } = await open(browser, { width: 360, height: 740, hasTouch: true });
    await upload(page, 'sale.pdf', 'Seller, Buyer');
    await page.waitForSelector('.pages[data-ready]');
    for (const role of ['Seller', 'Buyer']) {
      await page.getByLabel('For', { exact: true }).selectOption(role);
      await page
        .locator('.page')
        .first()
        .tap({ position: { x: 160, y: role === 'Buyer' ? 220 : 120 } });
    }
    expect(await page.locator('.box').count()).toBe(2);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    const id = await save(page);
    expect(await home.object`templates get ${id}`).toMatchObject({ fields: [{ page: 1 }, { page: 1 }] });
    expect(errors).toEqual([]);
  });

  it('reports why a file is rejected', async () => {
    const { page } = await open(browser);
    await upload(page, 'protected.pdf', 'Signer');
    await page.waitForSelector('text=The PDF is protected');
    await upload(page, 'large.pdf', 'Signer');
    await page.waitForSelector('text=larger than 10 MB');
  });

  it('works without scripts, with numbers', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await upload(page, 'sale.pdf', 'Signer');
    await page.getByRole('button', { name: 'Add a field' }).click();
    await page.locator('.row-field summary').click();
    await page.getByLabel('y', { exact: true }).fill('700');
    const id = await save(page);
    expect(await home.object`templates get ${id}`).toMatchObject({
      fields: [{ fieldId: 'signature_1' }],
    });
  });
});
