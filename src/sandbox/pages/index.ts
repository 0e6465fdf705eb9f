import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Hono } from 'hono';
import { type Asset, readAsset } from '../../kernel/files/asset.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import { fontFolder } from '../documents/text/folder.ts';
import { notFound } from '../service/base/errors.ts';
import type { ServiceEnv } from '../service/base/web.ts';
import { errorPage, ownAddressOnly, type PagesOptions } from './guard.ts';
import { signingPages } from './links.ts';
import { recordPages } from './records.ts';
import { templatePages } from './templates/routes.ts';

const OWN_PATHS = [
  '/',
  ...wordList('mailbox sign keys deliveries templates envelopes requests clock assets').map((n) => `/${n}/*`),
];

/** Mounts the web pages: dashboard, envelopes, mailbox, webhooks, requests, templates, keys, and signing. */
export function mountPages(app: Hono<ServiceEnv>, options: PagesOptions): void {
  const pages = new Hono<ServiceEnv>();
  pages.onError((error, c) => errorPage(c, error));
  const local = ownAddressOnly(options);
  for (const path of OWN_PATHS) pages.use(path, local);
  // Every form contains this token, because other sites can post here but don't know it.
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

const STYLES = ['design.css', 'style.css', 'tables.css', 'document.css', 'editor.css'];
const SCRIPTS = ['page.js', 'live.js', 'sign.js', 'sheets.js', 'reading.js', 'pad.js', 'edit.js'];
const NAMES = [...STYLES, ...SCRIPTS, 'icon.svg', 'pdf.min.mjs', 'pdf.worker.min.mjs', 'hand.ttf'];

/** Reads an asset of the pages, which the build copies next to the fonts. Returns undefined for any other name. */
function pageAsset(name: string): Promise<Asset | undefined> {
  return readAsset(name, NAMES, [join(fontFolder(), '../pages')]);
}
