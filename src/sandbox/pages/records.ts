import type { Hono } from 'hono';
import { isoTime } from '../service/base/sandbox-clock.ts';
import { bodies, parseBody } from '../service/base/validation.ts';
import type { ServiceEnv } from '../service/base/web.ts';
import { createKey, revokeKey } from '../service/control/key-actions.ts';
import { dashboard, mailbox, mailPage, newKeyPage } from './dashboard.ts';
import { nothingThere, requireForm } from './guard.ts';
import { page } from './layout.ts';
import type { PagesOptions } from './options.ts';

/** Dashboard and mailbox. `form` is the token that posts must carry. */
export function recordPages(app: Hono<ServiceEnv>, options: PagesOptions, form: string): void {
  const { store, engine, clock, origin } = options;
  app.get('/', (c) => {
    const body = dashboard(store.state, { origin: origin(), now: isoTime(clock.now()), form });
    return page(c, { title: 'Dashboard', body, isWide: true });
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
  app.post('/keys', async (c) => {
    const { name, scopes, expires } = await requireForm(c, form);
    const wish = {
      name,
      scopes: [scopes ?? []].flat(),
      ...(typeof expires === 'string' && expires !== '' ? { expiresAt: `${expires}T00:00:00Z` } : {}),
    };
    const { key, record } = await createKey(options, parseBody(bodies.createKey, wish));
    return page(c, { title: 'New key', body: newKeyPage(key, record) });
  });
}
