import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { itemsOnPage, keyView, listResponse } from '../api/representation.ts';
import { ApiError } from '../base/errors.ts';
import { readJson } from '../base/request-body.ts';
import { bodySchemas, parseBody, parseListQuery, parseMailQuery } from '../base/validation.ts';
import { reply, type ServiceEnv, unknownRoute } from '../base/web.ts';
import type { Engine } from '../engine/engine.ts';
import { parseSeedBody } from '../seed/schema.ts';
import { authenticate, requireScope } from '../store/keys.ts';
import type { ControlPlane } from './control-plane.ts';
import { createKey, type KeyContext, revokeKey } from './key-actions.ts';

export interface ControlOptions extends KeyContext {
  engine: Engine;
  control: ControlPlane;
  /** Aborts when the service closes, which ends all waiting requests. */
  closing: AbortSignal;
}

/** The maximum size of a seed's body, enough for tens of thousands of envelopes. */
const MAX_SEED_BYTES = 64 * 2 ** 20;

/** Returns the routes for the dashboard, the signers, and the clock, mounted at /__sandbox. They are not part of the API. */
export function controlRoutes(options: ControlOptions): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>();
  app.use('*', requireOwnKey(options));
  app.get('/', (c) => reply(c, options.control.status()));
  signerRoutes(app, options);
  clockRoutes(app, options);
  recordRoutes(app, options);
  keyRoutes(app, options);
  faultRoutes(app, options);
  app.all('*', unknownRoute);
  return app;
}

function signerRoutes(app: Hono<ServiceEnv>, { engine, control }: ControlOptions): void {
  app.post('/envelopes/:id/sign', async (c) => {
    const { id } = engine.envelope(c.req.param('id'));
    const request = parseBody(bodySchemas.controlSign, await readJson(c.env.incoming));
    return reply(c, { data: await control.sign(id, request) });
  });
  app.post('/envelopes/:id/view', async (c) => {
    const { id } = engine.envelope(c.req.param('id'));
    const { signer } = parseBody(bodySchemas.controlView, await readJson(c.env.incoming));
    return reply(c, { data: await control.view(id, signer) });
  });
  app.post('/envelopes/:id/decline', async (c) => {
    const { id } = engine.envelope(c.req.param('id'));
    const { signer, reason } = parseBody(bodySchemas.controlDecline, await readJson(c.env.incoming));
    return reply(c, { data: await control.decline(id, signer, reason) });
  });
}

function clockRoutes(app: Hono<ServiceEnv>, { control }: ControlOptions): void {
  app.post('/clock/advance', async (c) => {
    const { ms } = parseBody(bodySchemas.advance, await readJson(c.env.incoming));
    return reply(c, { now: await control.advance(ms) });
  });
  app.post('/seed', async (c) => {
    const seed = parseSeedBody(await readJson(c.env.incoming, MAX_SEED_BYTES));
    return reply(c, { data: await control.seed(seed) });
  });
  app.post('/reset', async (c) => {
    await control.reset();
    return reply(c, control.status());
  });
}

function recordRoutes(app: Hono<ServiceEnv>, { engine, control, closing, store }: ControlOptions): void {
  app.get('/deliveries', async (c) =>
    reply(c, { data: await control.deliveries({ envelopeId: c.req.query('envelopeId') }) }),
  );
  app.post('/deliveries/:id/replay', (c) => reply(c, { data: engine.replay(c.req.param('id')) }));
  app.get('/mails', async (c) => {
    const { to, envelopeId, waitMs } = parseMailQuery(c.req.query());
    return reply(c, { data: await control.mails({ to, envelopeId }, waitMs, closing) });
  });
  app.get('/audit', (c) => {
    const { page, pageSize } = parseListQuery(c.req.query());
    const newestFirst = [...store.state.audit.values()].toReversed();
    return reply(c, listResponse(itemsOnPage(newestFirst, page, pageSize), page, pageSize));
  });
}

function keyRoutes(app: Hono<ServiceEnv>, options: ControlOptions): void {
  const { store, clock } = options;
  app.get('/keys', (c) =>
    reply(c, { data: [...store.state.keys.values()].map((key) => keyView(key, clock.now())) }),
  );
  app.post('/keys', async (c) => {
    const { record, key } = createKey(
      options,
      parseBody(bodySchemas.createKey, await readJson(c.env.incoming)),
    );
    return reply(c, { data: { ...keyView(record, clock.now()), key } }, 201);
  });
  app.post('/keys/:id/revoke', (c) =>
    reply(c, { data: keyView(revokeKey(options, c.req.param('id')), clock.now()) }),
  );
}

/** Returns middleware that requires a key, which other web sites don't know. */
function requireOwnKey({ store, engine, clock }: ControlOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    const key = authenticate(c.req.header('authorization'), store.state, clock.now());
    if (key.orgId !== store.state.orgId)
      throw new ApiError('FORBIDDEN', 'The control plane requires a key from the default organization');
    requireScope(key, 'esign:write');
    await engine.catchUp();
    await next();
  });
}

function faultRoutes(app: Hono<ServiceEnv>, { control }: { control: ControlPlane }): void {
  app.get('/faults', (c) => reply(c, { data: control.faults() }));
  app.post('/faults', async (c) =>
    reply(c, { data: control.faults((await readJson(c.env.incoming)) ?? {}) }),
  );
  app.delete('/faults', (c) => reply(c, { data: control.faults({}) }));
}
