import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { RateWindow } from '../api/rate-window.ts';
import { deliveryView, envelopeView, keyView, pageOf, pageView } from '../api/representation.ts';
import type { Choices } from '../base/choices.ts';
import { ApiError, invalidBody } from '../base/errors.ts';
import { isLocalHost } from '../base/host-check.ts';
import { readJson } from '../base/json-body.ts';
import { isoTime, type SandboxClock } from '../base/sandbox-clock.ts';
import { bodies, parseBody, parseListQuery } from '../base/validation.ts';
import { reply, type ServiceContext, type ServiceEnv, unknownRoute, wrongMethod } from '../base/web.ts';
import type { Engine, Visitor } from '../engine/engine.ts';
import { nextSigner } from '../engine/predicates.ts';
import type { Faults } from '../faults/faults.ts';
import { authenticate, hashOf, type RandomId, requireScope } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import { createKey, type KeyDesk, revokeKey } from './key-actions.ts';
import { settingRoutes } from './settings-routes.ts';

export interface ControlOptions extends KeyDesk {
  store: Store;
  engine: Engine;
  rates: RateWindow;
  clock: SandboxClock;
  randomId: RandomId;
  choices: Choices;
  faults: Faults;
  /** The key that a reset keeps. */
  apiKey: string;
  /** The address bound. */
  host: string;
}

/** What the dashboard, the signers and the passing of time do: no part of the API. Mounted at /__sandbox. */
export function controlRoutes(options: ControlOptions): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>();
  app.use('*', guarded(options), wrongMethod(app));
  app.get('/', (c) => reply(c, statusView(options)));
  signerRoutes(app, options);
  clockRoutes(app, options);
  recordRoutes(app, options);
  keyRoutes(app, options);
  settingRoutes(app, options);
  app.all('*', unknownRoute);
  return app;
}

function statusView({ store, clock }: ControlOptions) {
  return {
    name: 'esign sandbox',
    version: 'v1',
    now: isoTime(clock.now()),
    orgId: store.state.orgId,
    clockOffsetMs: clock.offsetMs,
  };
}

function signerRoutes(app: Hono<ServiceEnv>, { engine, choices }: ControlOptions): void {
  app.post('/envelopes/:id/sign', async (c) => {
    const { id } = engine.envelope(c.req.param('id'));
    const { signer, values = {}, all } = parseBody(bodies.controlSign, await readJson(c.env.incoming));
    if (all && (signer !== undefined || Object.keys(values).length > 0))
      throw invalidBody({ all: ['Goes without signer and values'] });
    let envelope = await engine.sign(id, signer ?? null, { values }, visitorOf(c));
    while (all && nextSigner(envelope)) envelope = await engine.sign(id, null, { values: {} }, visitorOf(c));
    return reply(c, { data: envelopeView(envelope, choices.rules) });
  });
  app.post('/envelopes/:id/view', async (c) => {
    const { id } = engine.envelope(c.req.param('id'));
    const { signer } = parseBody(bodies.controlView, await readJson(c.env.incoming));
    return reply(c, { data: envelopeView(await engine.view(id, signer ?? null), choices.rules) });
  });
  app.post('/envelopes/:id/decline', async (c) => {
    const { id } = engine.envelope(c.req.param('id'));
    const { signer, reason } = parseBody(bodies.controlDecline, await readJson(c.env.incoming));
    const envelope = await engine.decline(id, signer ?? null, reason ?? null);
    return reply(c, { data: envelopeView(envelope, choices.rules) });
  });
}

function clockRoutes(app: Hono<ServiceEnv>, options: ControlOptions): void {
  const { engine, rates, apiKey, choices, faults } = options;
  app.post('/clock/advance', async (c) => {
    const { ms } = parseBody(bodies.advance, await readJson(c.env.incoming));
    return reply(c, { now: isoTime(await engine.advance(ms)) });
  });
  app.post('/reset', async (c) => {
    await engine.reset(hashOf(apiKey));
    rates.clear();
    choices.restore();
    faults.restore();
    return reply(c, statusView(options));
  });
}

function recordRoutes(app: Hono<ServiceEnv>, { engine, store: { state } }: ControlOptions): void {
  app.get('/deliveries', (c) => {
    const envelopeId = c.req.query('envelopeId');
    const all = [...state.deliveries.values()];
    const shown = envelopeId === undefined ? all : all.filter((one) => one.envelopeId === envelopeId);
    return reply(c, { data: shown.map(deliveryView) });
  });
  app.post('/deliveries/:id/replay', async (c) =>
    reply(c, { data: deliveryView(await engine.replay(c.req.param('id'))) }),
  );
  app.get('/mails', (c) => {
    const envelopeId = c.req.query('envelopeId');
    const all = [...state.mails.values()];
    const shown = envelopeId === undefined ? all : all.filter((one) => one.envelopeId === envelopeId);
    return reply(c, { data: shown });
  });
  app.get('/audit', (c) => {
    const { page, pageSize } = parseListQuery(c.req.query());
    const newestFirst = [...state.audit.values()].toReversed();
    return reply(c, pageView(pageOf(newestFirst, page, pageSize), page, pageSize));
  });
}

function keyRoutes(app: Hono<ServiceEnv>, options: ControlOptions): void {
  const { store, clock } = options;
  app.get('/keys', (c) =>
    reply(c, { data: [...store.state.keys.values()].map((key) => keyView(key, clock.now())) }),
  );
  app.post('/keys', async (c) => {
    const { record, key } = await createKey(
      options,
      parseBody(bodies.createKey, await readJson(c.env.incoming)),
    );
    return reply(c, { data: { ...keyView(record, clock.now()), key } }, 201);
  });
  app.post('/keys/:id/revoke', async (c) =>
    reply(c, { data: keyView(await revokeKey(options, c.req.param('id')), clock.now()) }),
  );
}

/** A page elsewhere on the web can neither know the key nor, by rebinding its name, reach this address. */
function guarded({ store, engine, clock, host }: ControlOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    if (!isLocalHost(c.env.incoming, host))
      throw new ApiError('FORBIDDEN', 'The control plane answers only under its own address');
    const key = authenticate(c.req.header('authorization'), store.state, clock.now());
    if (key.orgId !== store.state.orgId)
      throw new ApiError('FORBIDDEN', 'The control plane needs a key of the default organisation');
    requireScope(key, 'esign:write');
    await engine.catchUp();
    await next();
  });
}

function visitorOf(c: ServiceContext): Visitor {
  return { ip: getConnInfo(c).remote.address ?? null, userAgent: c.req.header('user-agent') ?? null };
}
