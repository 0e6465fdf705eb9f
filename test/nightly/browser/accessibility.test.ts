import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../../src/webhooks/receive/signature.ts';
import { Home, type Sandbox } from '../../support/cli.ts';
import { closing } from '../../support/closing.ts';
import { launch, needsBrowser, open, openSigning } from './rig.ts';

/* Checks each page against the rules of WCAG 2.2 AA that a program can check, on a laptop and a phone, light and dark. */
const opened = closing();
const home = opened(new Home());
const secret = 'whsec_0123456789abcdef';
const SIZES = [
  { width: 1280, height: 800 },
  { width: 375, height: 740 },
];
const SCHEMES = ['light', 'dark'] as const;
let browser: Browser;
let sandbox: Sandbox;
/** An envelope that waits for Bo, and one that is completed. */
let waiting: string;
let completed: string;

beforeAll(async () => {
  sandbox = await home.sandbox();
  browser = opened(await launch());
  const create = async (...words: string[]) =>
    String((await home.object`envelopes create --template tmpl_nda ${words} --send`).id);
  completed = await create('--signer', 'Ada Lovelace <ada@example.com>');
  waiting = await create('--signer', 'Bo Li <bo@example.com>');
  await home.run`sandbox sign ${completed}`;
});

/** Returns the violations on a page in each size and scheme, one a line. */
async function violationsOn(visit: (page: Page) => Promise<unknown>): Promise<string[]> {
  const found = new Set<string>();
  for (const size of SIZES)
    for (const colorScheme of SCHEMES) {
      const { page } = await open(browser, { ...size, colorScheme });
      await visit(page);
      await page.evaluate(axe.source);
      const { violations, passes } = await page.evaluate<AxeResults>(
        "axe.run({ rules: { 'target-size': { enabled: true } } })",
      );
      expect(passes.length).toBeGreaterThan(5);
      for (const { id, nodes } of violations)
        for (const { target, failureSummary } of nodes)
          found.add(`${size.width} ${colorScheme} ${id} ${target.join(' ')} ${failureSummary}`);
      await page.context().close();
    }
  return [...found];
}

const onSandbox = (path: string) => (page: Page) => page.goto(new URL(path, sandbox.baseUrl).href);
const onFile = (name: string) => (page: Page) => page.goto(pathToFileURL(home.path(name)).href);

describe('a page passes the checks of axe', needsBrowser, () => {
  it.each(['/', '/mailbox', '/mailbox?to=bo@example.com'])('the sandbox at %s', async (path) => {
    expect(await violationsOn(onSandbox(path))).toEqual([]);
  });

  it('an envelope in the sandbox', async () => {
    expect(await violationsOn(onSandbox(`/envelopes/${waiting}`))).toEqual([]);
    expect(await violationsOn(onSandbox(`/envelopes/${completed}`))).toEqual([]);
  });

  it('the signing page, with its errors and its dialog', async () => {
    const signing = (page: Page) => openSigning(page, sandbox, 'bo@example.com');
    expect(await violationsOn(signing)).toEqual([]);
    const withErrors = async (page: Page) => {
      await signing(page);
      await page.getByRole('button', { name: 'Sign', exact: true }).click();
      await page.getByRole('alert').waitFor();
    };
    expect(await violationsOn(withErrors)).toEqual([]);
    const withDialog = async (page: Page) => {
      await signing(page);
      await page.getByRole('button', { name: 'Decline' }).click();
      await page.getByRole('dialog').waitFor();
    };
    expect(await violationsOn(withDialog)).toEqual([]);
  });

  it('the inspector, with an opened delivery', async () => {
    await writeFile(home.path('secret'), secret);
    const ready = await home.start`listen --port 0 --json --inspect --secret-file secret`.object();
    for (const known of [secret, 'another-secret-0123456789']) {
      const event = {
        event: 'envelope.sent',
        timestamp: new Date().toISOString(),
        data: { envelopeId: waiting },
      };
      const body = JSON.stringify(event);
      const headers = { 'x-service-signature': sign(Buffer.from(body), known) };
      await fetch(String(ready.url), { method: 'POST', body, headers });
    }
    const visit = async (page: Page) => {
      await page.goto(String(ready.inspectorUrl));
      const rows = page.getByRole('list', { name: /Deliveries/ }).getByRole('listitem');
      await expect.poll(() => rows.count()).toBe(2);
      await rows.first().click();
      await page.getByText('What happened').waitFor();
    };
    expect(await violationsOn(visit)).toEqual([]);
  });

  it('the page of evidence, and the one of a report', async () => {
    await home.run`envelopes evidence ${completed} --dir evidence`;
    expect(await violationsOn(onFile('evidence/evidence.html'))).toEqual([]);
    await home.run`report --html report.html`;
    expect(await violationsOn(onFile('report.html'))).toEqual([]);
  });
});
