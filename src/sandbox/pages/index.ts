import { randomBytes, timingSafeEqual } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { html } from 'hono/html';
import type { EnvelopeRecord, ObjectWriter, SignerRecord } from '../model.ts';
import type { Engine } from '../service/engine.ts';
import { ApiError, notFound } from '../service/errors.ts';
import { isLocalHost } from '../service/host-check.ts';
import { type KeyDesk, revokeKey } from '../service/key-actions.ts';
import { isoTime } from '../service/sandbox-clock.ts';
import { hasTurn, isActive } from '../service/standing.ts';
import type { ServiceContext, ServiceEnv } from '../service/web.ts';
import { readAsset } from './assets.ts';
import { dashboard, mailbox, mailPage } from './dashboard.ts';
import { entered, fieldsFor, prefilled, problemsWith } from './entries.ts';
import { page } from './layout.ts';
import { signingPage, standingPage } from './signing.ts';

export interface PagesOptions extends KeyDesk {
  engine: Engine;
  objects: ObjectWriter;
  /** The address bound: pages are shown under it and loopback only. */
  host: string;
  origin: () => string;
}

const MAX_FORM_BYTES = 256 * 1024;

/** The pages made for people: dashboard, mailbox, and the signing page behind each link. */
export function mountPages(app: Hono<ServiceEnv>, options: PagesOptions): void {
  // Forms of the dashboard carry it: a page elsewhere on the web can post here, but cannot know it.
  const form = randomBytes(16).toString('hex');
  const local = ownAddressOnly(options);
  for (const path of ['/', '/mailbox/*', '/sign/*', '/keys/*', '/deliveries/*', '/assets/*'])
    app.use(path, local);
  recordPages(app, options, form);
  signingPages(app, options);
  app.get('/assets/:name', async (c) => {
    const asset = await readAsset(c.req.param('name'));
    if (asset === undefined) throw notFound('File');
    return c.body(asset.body, 200, { 'Content-Type': asset.type, 'Cache-Control': 'max-age=3600' });
  });
}

function recordPages(app: Hono<ServiceEnv>, options: PagesOptions, form: string): void {
  const { store, engine, clock, origin } = options;
  app.get('/', (c) => {
    const body = dashboard(store.state, { origin: origin(), now: isoTime(clock.now()), form });
    return page(c, { title: 'Dashboard', body });
  });
  app.get('/mailbox', (c) =>
    page(c, { title: 'Mailbox', body: mailbox(store.state.mails, c.req.query('to') ?? '') }),
  );
  app.get('/mailbox/:id', (c) => {
    const mail = store.state.mails.find((one) => one.id === c.req.param('id'));
    if (mail === undefined) return nothingThere(c);
    return page(c, { title: mail.subject, body: mailPage(mail, origin()) });
  });
  app.post('/deliveries/:id/replay', async (c) => {
    await requireForm(c, form);
    await engine.replay(c.req.param('id'));
    return c.redirect('/', 303);
  });
  app.post('/keys/:id/revoke', async (c) => {
    await requireForm(c, form);
    await revokeKey(options, c.req.param('id'));
    return c.redirect('/', 303);
  });
}

function signingPages(app: Hono<ServiceEnv>, options: PagesOptions): void {
  const { engine, objects, store } = options;
  app.get('/sign/:token', async (c) => {
    const found = bearer(options, c.req.param('token'));
    if (found === undefined) return nothingThere(c);
    if (!canSign(found))
      return page(c, { title: found.envelope.subject, body: standingPage(found.envelope, found.signer) });
    await engine.view(found.envelope.id, found.signer.id);
    return signing(c, options, found, { consent: false, problems: [] });
  });
  app.post('/sign/:token', async (c) => {
    const token = c.req.param('token');
    const found = bearer(options, token);
    if (found === undefined) return nothingThere(c);
    if (!canSign(found)) return c.redirect(`/sign/${token}`, 303);
    const { envelope, signer } = found;
    const body = await c.req.parseBody();
    const fields = fieldsFor(store.state, envelope, signer);
    const values = entered(fields, body);
    const consent = body.consent === 'yes';
    const problems = problemsWith(fields, values, consent);
    if (problems.length > 0) return signing(c, options, found, { values, consent, problems });
    await engine.sign(envelope.id, signer.id, values, visitor(c));
    return c.redirect(`/sign/${token}`, 303);
  });
  app.post('/sign/:token/decline', async (c) => {
    const token = c.req.param('token');
    const found = bearer(options, token);
    if (found === undefined) return nothingThere(c);
    const { reason } = await c.req.parseBody();
    const text = typeof reason === 'string' && reason.trim() !== '' ? reason.trim().slice(0, 1_000) : null;
    if (canSign(found)) await engine.decline(found.envelope.id, found.signer.id, text);
    return c.redirect(`/sign/${token}`, 303);
  });
  app.get('/sign/:token/:paper{(document|signed|certificate)\\.pdf}', async (c) => {
    const found = bearer(options, c.req.param('token'));
    const bytes = found && (await objects.get(keyOf(found.envelope, c.req.param('paper')) ?? ''));
    if (!bytes) return nothingThere(c);
    return c.body(new Uint8Array(bytes), 200, {
      'Content-Type': 'application/pdf',
      'Content-Disposition': `inline; filename="${found.envelope.id}.${c.req.param('paper')}"`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
  });
}

/** What stands in the form: nothing yet, or what was posted and refused. */
interface Entries {
  values?: Record<string, string>;
  consent: boolean;
  problems: string[];
}

function signing(c: ServiceContext, options: PagesOptions, { envelope, signer }: Bearer, entries: Entries) {
  const { consent, problems } = entries;
  const fields = fieldsFor(options.store.state, envelope, signer);
  const values = entries.values ?? prefilled(fields, signer, options.clock.now());
  const body = signingPage({ envelope, signer, fields, values, consent, problems });
  return page(c, {
    title: envelope.subject,
    body,
    script: 'sign.js',
    status: problems.length > 0 ? 400 : 200,
  });
}

interface Bearer {
  envelope: EnvelopeRecord;
  signer: SignerRecord;
}

/** Whoever holds the link. Compared in constant time, since the token is all that is asked for. */
function bearer({ store }: PagesOptions, token: string): Bearer | undefined {
  const given = Buffer.from(token);
  for (const envelope of store.state.envelopes.values()) {
    for (const signer of envelope.signers) {
      const own = Buffer.from(signer.token);
      if (own.length === given.length && timingSafeEqual(own, given)) return { envelope, signer };
    }
  }
  return undefined;
}

function canSign({ envelope, signer }: Bearer): boolean {
  return isActive(envelope) && hasTurn(signer);
}

function keyOf(envelope: EnvelopeRecord, paper: string): string | null {
  if (paper === 'signed.pdf') return envelope.signedDocumentStorageKey;
  return paper === 'certificate.pdf' ? envelope.certificateStorageKey : envelope.documentStorageKey;
}

function visitor(c: ServiceContext) {
  return { ip: getConnInfo(c).remote.address ?? null, userAgent: c.req.header('user-agent') ?? null };
}

function nothingThere(c: ServiceContext) {
  const body = html`<h1>There is nothing here</h1>
    <p>The link is not complete, or it belongs to a sandbox that was reset. The <a href="/mailbox">mailbox</a> has the links.</p>`;
  return page(c, { title: 'Not found', body, status: 404 });
}

async function requireForm(c: ServiceContext, form: string): Promise<void> {
  const body = await c.req.parseBody();
  if (body.form !== form)
    throw new ApiError('FORBIDDEN', 'The form is not from this page; reload it and try again');
}

/** No name that an attacker makes point here opens these pages, and no form is larger than forms are. */
function ownAddressOnly({ host, engine }: PagesOptions) {
  const limit = bodyLimit({
    maxSize: MAX_FORM_BYTES,
    onError: () => {
      throw new ApiError('VALIDATION_ERROR', 'The form is too large');
    },
  });
  return createMiddleware<ServiceEnv>(async (c, next) => {
    if (!isLocalHost(c.env.incoming, host))
      throw new ApiError('FORBIDDEN', 'This page is shown only under its own address');
    await engine.catchUp();
    return limit(c, next);
  });
}
