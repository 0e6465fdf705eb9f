import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { notFound } from '../service/base/errors.ts';
import type { ServiceEnv } from '../service/base/web.ts';
import { pageAsset } from './assets.ts';
import { errorPage, ownAddressOnly } from './guard.ts';
import { signingPages } from './links.ts';
import type { PagesOptions } from './options.ts';
import { recordPages } from './records.ts';
import { templatePages } from './templates.ts';

const OWN_PATHS = [
  '/',
  ...['mailbox', 'sign', 'keys', 'deliveries', 'templates', 'envelopes', 'requests', 'clock', 'assets'].map(
    (name) => `/${name}/*`,
  ),
];

/** The pages made for people: dashboard, envelopes, mailbox, webhooks, requests, and the signing page behind each link. */
export function mountPages(app: Hono<ServiceEnv>, options: PagesOptions): void {
  const pages = new Hono<ServiceEnv>();
  pages.onError((error, c) => errorPage(c, error));
  const local = ownAddressOnly(options);
  for (const path of OWN_PATHS) pages.use(path, local);
  // Forms of the dashboard carry it: a page elsewhere on the web can post here, but cannot know it.
  const token = randomBytes(16).toString('hex');
  recordPages(pages, options, token);
  templatePages(pages, options, token);
  signingPages(pages, options);
  pages.get('/assets/:name', async (c) => {
    const asset = await pageAsset(c.req.param('name'));
    if (asset === undefined) throw notFound('File');
    return c.body(asset.body, 200, { 'Content-Type': asset.type });
  });
  app.route('/', pages);
}
