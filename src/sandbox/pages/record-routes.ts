import type { Hono } from 'hono';
import type { EnvelopeRecord } from '../model.ts';
import { isoTime } from '../service/base/sandbox-clock.ts';
import type { ServiceContext, ServiceEnv } from '../service/base/web.ts';
import { mailView } from '../service/engine/mails.ts';
import { CLOCK_STEPS, dashboard } from './dashboard.ts';
import { deliveryList } from './deliveries.ts';
import { envelopeList, envelopePage, filterEnvelopes } from './envelopes.ts';
import { type PagesOptions, pageNotFound } from './error-pages.ts';
import { respondWithPage, selectPage } from './layout.ts';
import { mailbox, mailPage, mailsTo } from './mailbox.ts';

/** Mounts the dashboard and the lists. */
export function mountRecordPages(app: Hono<ServiceEnv>, options: PagesOptions): void {
  const { store, clock, origin } = options;
  app.get('/', (c) => {
    const body = dashboard(store.state, { origin: origin(), now: isoTime(clock.now()) });
    return respondWithPage(c, { title: 'Dashboard', body });
  });
  app.get('/mailbox', (c) => {
    const to = c.req.query('to') ?? '';
    return respondWithPage(c, {
      title: 'Mailbox',
      body: mailbox(selectPage(c, mailsTo(store.state.mails.values(), to)), store.state.envelopes, to),
    });
  });
  app.get('/mailbox/:id', (c) => {
    const { mails, envelopes } = store.state;
    const record = mails.get(c.req.param('id'));
    if (record === undefined) return pageNotFound(c);
    const mail = mailView(record, envelopes.get(record.envelopeId), origin());
    return respondWithPage(c, { title: mail.subject, body: mailPage(mail) });
  });
  app.get('/deliveries', (c) => {
    const deliveries = [...store.state.deliveries.values()].toReversed();
    return respondWithPage(c, { title: 'Webhooks', body: deliveryList(selectPage(c, deliveries)) });
  });
  envelopePages(app, options);
  recordActions(app, options);
}

function envelopePages(app: Hono<ServiceEnv>, { store, objects }: PagesOptions): void {
  app.get('/envelopes', (c) => {
    const { state } = store;
    const wanted = { text: c.req.query('q') ?? '', status: c.req.query('status') ?? '' };
    const body = envelopeList(selectPage(c, filterEnvelopes(state.envelopesOf(state.orgId), wanted)), wanted);
    return respondWithPage(c, { title: 'Envelopes', body });
  });
  app.get('/envelopes/:id', (c) => {
    const envelope = store.state.envelopes.get(c.req.param('id'));
    if (envelope === undefined) return pageNotFound(c);
    return respondWithPage(c, { title: envelope.subject, body: envelopePage(envelope, store.state) });
  });
  app.get('/envelopes/:id/:file{(document|signed|certificate)\\.pdf}', async (c) => {
    const envelope = store.state.envelopes.get(c.req.param('id'));
    return sendDocument(c, objects, envelope, c.req.param('file'));
  });
}

/** Responds with a document of an envelope for display in the browser, or with 404. */
export async function sendDocument(
  c: ServiceContext,
  objects: PagesOptions['objects'],
  envelope: EnvelopeRecord | undefined,
  file: string,
): Promise<Response> {
  const bytes = envelope && (await objects.get(keyOf(envelope, file) ?? ''));
  if (!bytes) return pageNotFound(c);
  return c.body(new Uint8Array(bytes), 200, {
    'Content-Type': 'application/pdf',
    'Content-Disposition': `inline; filename="${envelope.id}.${file}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  });
}

function keyOf(envelope: EnvelopeRecord, file: string): string | null {
  if (file === 'signed.pdf') return envelope.signedDocumentStorageKey;
  return file === 'certificate.pdf' ? envelope.certificateStorageKey : envelope.documentStorageKey;
}

function recordActions(app: Hono<ServiceEnv>, { engine }: PagesOptions): void {
  app.post('/clock/:step', async (c) => {
    const step = CLOCK_STEPS.get(c.req.param('step'));
    if (step === undefined) return pageNotFound(c);
    await engine.advance(step);
    return c.redirect('/', 303);
  });
  app.post('/deliveries/:id/replay', (c) => {
    const { envelopeId } = engine.replay(c.req.param('id'));
    return c.redirect(`/envelopes/${envelopeId}`, 303);
  });
}
