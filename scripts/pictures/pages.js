import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { FOLDER, words } from './shell.js';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Takes pictures of the signing page and of the inspector of `listen`. */
export function pagePictures(shell, baseUrl) {
  return withPage({ width: 1280, height: 800 }, async (page) => {
    await page.setViewportSize({ width: 1280, height: 680 });
    await signingPicture(page, shell, baseUrl);
    await page.setViewportSize({ width: 1280, height: 800 });
    await inspectorPicture(page, shell);
  });
}

/** Takes a picture of the page of a report on everything in the sandbox. */
export function reportPicture(shell) {
  return withPage({ width: 1000, height: 1150 }, async (page) => {
    await shell.esign`report --html report.html`;
    await page.goto(`file://${join(shell.home, 'report')}.html`);
    const { y, height } = await page.locator('svg').boundingBox();
    const clip = { x: 0, y: 0, width: 1000, height: y + height };
    await page.screenshot({ path: join(FOLDER, 'report.png'), clip });
  });
}

async function withPage(viewport, work) {
  if (!existsSync(CHROMIUM)) {
    process.stderr.write('Chromium is not installed; pictures of web pages are not updated.\n');
    return;
  }
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    await work(await browser.newPage({ viewport }));
  } finally {
    await browser.close();
  }
}

async function signingPicture(page, shell, baseUrl) {
  const signer = 'Łukasz Řehoř <signer@example.com>;role=Landlord';
  await shell.esign`envelopes create --template tmpl_lease --signer ${signer} --allow-missing-roles --send -q`;
  await page.goto(new URL('/mailbox?to=signer@', baseUrl).href);
  await page
    .getByRole('link', { name: /Please sign/ })
    .first()
    .click();
  await page.getByRole('link', { name: 'Open and sign' }).click();
  await page.waitForSelector('.pages[data-ready]');
  await drawSignature(page);
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.getByRole('button', { name: /drawn: draw it again/ }).waitFor();
  await page.screenshot({ path: join(FOLDER, 'signing.png') });
}

/** Draws a scribble that looks like a name with the mouse. */
async function drawSignature(page) {
  await page
    .getByRole('button', { name: /^Draw: .*[Ss]ignature/ })
    .first()
    .click();
  const pad = page.locator('.pad').first();
  await pad.scrollIntoViewIfNeeded();
  const box = await pad.boundingBox();
  const at = (part) => [
    box.x + box.width * (0.12 + 0.6 * part + 0.04 * Math.sin(part * 40)),
    box.y + box.height * (0.55 + 0.28 * (1 - part) * Math.sin(part * 26) + 0.05 * Math.cos(part * 60)),
  ];
  await page.mouse.move(...at(0));
  await page.mouse.down();
  for (let step = 1; step <= 120; step++) await page.mouse.move(...at(step / 120));
  await page.mouse.up();
}

/** Sends a delivery that is refused, then those of an envelope, which are forwarded. */
async function inspectorPicture(page, shell) {
  const target = createServer((_, response) => response.end('ok'));
  await new Promise((resolve) => target.listen(0, '127.0.0.1', resolve));
  await writeFile(join(shell.home, 'secret'), 'whsec_0123456789abcdef');
  await writeFile(join(shell.home, 'another'), 'another-secret-0123456789');
  const forwardTo = `http://127.0.0.1:${target.address().port}/hooks`;
  const listen = shell.start(
    words`listen --port 0 --json --inspect --secret-file secret --forward-to ${forwardTo}`,
  );
  try {
    const [ready] = await once(createInterface({ input: listen.stdout }), 'line');
    const { url, inspectorUrl } = JSON.parse(ready);
    const refused = shell.esign`events trigger declined --to ${url} --secret-file another`;
    // It fails, because the listener refuses it.
    await refused.catch(() => undefined);
    const people = ['Łukasz Řehoř <lukasz@example.com>', 'Νίκος Βασιλείου <nikos@example.com>'];
    const signers = people.flatMap((signer) => ['--signer', `${signer};role=Signer`]);
    const hook = ['--webhook-url', url, '--webhook-secret-file', 'secret'];
    const id = await shell.esign`envelopes create --template tmpl_nda --send -q ${hook} ${signers}`;
    await shell.esign`sandbox sign ${id} --all`;
    await page.goto(inspectorUrl);
    await page.getByText('7 deliveries').waitFor();
    const rows = page.getByRole('list', { name: /Deliveries/ }).getByRole('listitem');
    await rows.filter({ hasText: 'envelope.signed' }).first().click();
    const detail = page.getByRole('region', { name: 'Opened delivery' });
    await detail.getByText('Valid signature').waitFor();
    await detail.getByText('responded with 200 in').last().waitFor();
    await page.screenshot({ path: join(FOLDER, 'inspector.png') });
  } finally {
    listen.kill();
    target.close();
  }
}
