import { Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { wordList } from '../../kernel/text/word-list.ts';
import { KIT_FILES, readAsset } from '../../pages/assets.ts';
import { readFont } from '../documents/fonts.ts';
import type { EnvelopeRecord, SignerRecord } from '../model.ts';
import { notFound } from '../service/base/errors.ts';
import { readForm } from '../service/base/request-body.ts';
import type { ServiceContext, ServiceEnv } from '../service/base/web.ts';
import { hasTurn, isActive } from '../service/engine/predicates.ts';
import { errorPage, ownAddressOnly, type PagesOptions, pageNotFound } from './error-pages.ts';
import { respondWithPage } from './layout.ts';
import { mountRecordPages, sendDocument } from './record-routes.ts';
import { signingPage, statusPage } from './signing.ts';
import { fieldsFor, type PostedForm, prefilledValues, readPosted } from './signing-form.ts';

const OWN_PATHS = ['/', ...wordList('mailbox sign deliveries envelopes clock assets').map((n) => `/${n}/*`)];

/** Mounts the web pages: dashboard, envelopes, mailbox, webhooks, and signing. */
export function mountPages(app: Hono<ServiceEnv>, options: PagesOptions): void {
  const pages = new Hono<ServiceEnv>();
  pages.onError((error, c) => (error instanceof HTTPException ? error.getResponse() : errorPage(c, error)));
  const local = ownAddressOnly(options);
  for (const path of OWN_PATHS) pages.use(path, local);
  // Other sites can post here, too, but not with this origin.
  for (const path of ['/clock/*', '/deliveries/*']) pages.use(path, csrf());
  mountRecordPages(pages, options);
  signingPages(pages, options);
  pages.get('/assets/hand.ttf', (c) =>
    c.body(new Uint8Array(readFont('hand')), 200, { 'Content-Type': 'font/ttf' }),
  );
  pages.get('/assets/:name', async (c) => {
    const asset = await readAsset(c.req.param('name'), FILES);
    if (asset === undefined) throw notFound('File');
    return c.body(asset.body, 200, { 'Content-Type': asset.type });
  });
  app.route('/', pages);
}

const VIEWER = ['pdf.min.mjs', 'pdf.worker.min.mjs'];
const FILES = [...KIT_FILES, ...wordList('sandbox.css signing.css sign.js sheets.js pad.js'), ...VIEWER];

/** Mounts the pages behind the link in a signer's email: read, sign, decline, and download the documents. */
function signingPages(app: Hono<ServiceEnv>, options: PagesOptions): void {
  const { engine, objects, store } = options;
  app.get('/sign/:token', async (c) => {
    const found = bearer(options, c.req.param('token'));
    if (found === undefined) return pageNotFound(c);
    if (!canSign(found))
      return respondWithPage(c, {
        title: found.envelope.subject,
        body: statusPage(found.envelope, found.signer),
        isForSigner: true,
      });
    await engine.view(found.envelope.id, found.signer.id);
    return signing(c, options, found);
  });
  app.post('/sign/:token', async (c) => {
    const token = c.req.param('token');
    const found = bearer(options, token);
    if (found === undefined) return pageNotFound(c);
    if (!canSign(found)) return c.redirect(`/sign/${token}`, 303);
    const { envelope, signer } = found;
    const fields = fieldsFor(store.state, envelope, signer);
    const posted = readPosted(fields, await readForm(c.env.incoming));
    if (posted.problems.length > 0) return signing(c, options, found, posted);
    const { values, drawings } = posted;
    const entries = Object.keys(drawings).length > 0 ? { values, drawings } : { values };
    await engine.sign(envelope.id, signer.id, entries);
    return c.redirect(`/sign/${token}`, 303);
  });
  app.post('/sign/:token/decline', async (c) => {
    const token = c.req.param('token');
    const found = bearer(options, token);
    if (found === undefined) return pageNotFound(c);
    const reason = (await readForm(c.env.incoming)).get('reason')?.trim().slice(0, 1_000);
    if (canSign(found)) await engine.decline(found.envelope.id, found.signer.id, reason || null);
    return c.redirect(`/sign/${token}`, 303);
  });
  app.get('/sign/:token/:file{(document|signed|certificate)\\.pdf}', async (c) => {
    const found = bearer(options, c.req.param('token'));
    return sendDocument(c, objects, found?.envelope, c.req.param('file'));
  });
}

/** Responds with the form, either as first opened or with the rejected input. */
function signing(
  c: ServiceContext,
  options: PagesOptions,
  { envelope, signer }: Bearer,
  refused?: PostedForm,
) {
  const fields = fieldsFor(options.store.state, envelope, signer);
  const values = prefilledValues(fields, signer, options.clock.now());
  const { problems = [], ...filled } = refused ?? { values, drawn: {}, consent: false };
  const body = signingPage({ envelope, signer, fields, ...filled, problems });
  return respondWithPage(c, {
    title: envelope.subject,
    body,
    files: ['signing.css', 'sign.js'],
    isForSigner: true,
    status: problems.length > 0 ? 400 : 200,
  });
}

interface Bearer {
  envelope: EnvelopeRecord;
  signer: SignerRecord;
}

/** Returns the signer who owns the link. */
function bearer({ store }: PagesOptions, token: string): Bearer | undefined {
  for (const envelope of store.state.envelopes.values()) {
    const signer = envelope.signers.find((one) => one.token === token);
    if (signer !== undefined) return { envelope, signer };
  }
  return undefined;
}

function canSign({ envelope, signer }: Bearer): boolean {
  return isActive(envelope) && hasTurn(signer);
}
