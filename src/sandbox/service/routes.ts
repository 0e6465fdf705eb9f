import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Clock } from '../../kernel/clock.ts';
import type { Scope } from '../../kernel/vocabulary.ts';
import type { EnvelopeRecord } from '../model.ts';
import type { Engine } from './engine.ts';
import { ApiError, notFound } from './errors.ts';
import { readJson } from './json-body.ts';
import { authenticate, type RandomId, requireScope } from './keys.ts';
import type { RateWindow } from './rate-window.ts';
import type { AuditRecord } from './records.ts';
import { envelopeView, pageView, templateView } from './representation.ts';
import { isoTime } from './sandbox-clock.ts';
import type { Store } from './store.ts';
import { bodies, parseBody, parseListQuery } from './validation.ts';
import { reply, type ServiceContext, type ServiceEnv, unknownRoute, wrongMethod } from './web.ts';

export interface RouteOptions {
  store: Store;
  engine: Engine;
  rates: RateWindow;
  clock: Clock;
  /** For the rate window alone. */
  realClock: Clock;
  randomId: RandomId;
}

/** The eight routes of the API (Endpoints), to be mounted at /api/v1. HEAD answers like GET. */
export function apiRoutes(options: RouteOptions): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>();
  app.use('*', audited(options), keyed(options));
  templateRoutes(app, options);
  envelopeRoutes(app, options);
  actionRoutes(app, options.engine);
  app.all('*', unknownRoute);
  return app;
}

function templateRoutes(app: Hono<ServiceEnv>, { store: { state } }: RouteOptions): void {
  app.get('/esign/templates', scoped('esign:read'), (c) => {
    const { page, pageSize } = parseListQuery(c.req.query());
    const active = [...state.templates.values()].filter((template) => template.active);
    return reply(c, pageView(active, page, pageSize, templateView));
  });
  app.all('/esign/templates', wrongMethod('GET, HEAD'));

  app.get('/esign/templates/:id', scoped('esign:read'), (c) => {
    const template = state.templates.get(c.req.param('id'));
    if (!template) throw notFound('Template');
    return reply(c, { data: templateView(template) });
  });
  app.all('/esign/templates/:id', wrongMethod('GET, HEAD'));
}

function envelopeRoutes(app: Hono<ServiceEnv>, { store: { state }, engine }: RouteOptions): void {
  app.get('/esign/envelopes', scoped('esign:read'), (c) => {
    const { page, pageSize, status } = parseListQuery(c.req.query());
    const all = state.envelopesOf(c.var.key.orgId);
    const shown = status === undefined ? all : all.filter((envelope) => envelope.status === status);
    return reply(c, pageView(shown, page, pageSize, envelopeView));
  });
  app.post('/esign/envelopes', scoped('esign:write'), async (c) => {
    const body = parseBody(bodies.create, await readJson(c.env.incoming));
    return replyEnvelope(c, await engine.create(c.var.key.orgId, body), 201);
  });
  app.all('/esign/envelopes', wrongMethod('GET, HEAD, POST'));

  app.get('/esign/envelopes/:id', scoped('esign:read'), (c) =>
    replyEnvelope(c, engine.envelope(c.req.param('id'), c.var.key.orgId)),
  );
  app.all('/esign/envelopes/:id', wrongMethod('GET, HEAD'));
}

/** send, cancel and remind. The document does not show their replies: the envelope, as GET gives it. */
function actionRoutes(app: Hono<ServiceEnv>, engine: Engine): void {
  app.post('/esign/envelopes/:id/send', scoped('esign:write'), async (c) =>
    replyEnvelope(c, await engine.send(c.req.param('id'), c.var.key.orgId)),
  );
  app.post('/esign/envelopes/:id/cancel', scoped('esign:write'), async (c) => {
    const { id } = engine.envelope(c.req.param('id'), c.var.key.orgId);
    const { reason } = parseBody(bodies.cancel, await readJson(c.env.incoming));
    return replyEnvelope(c, await engine.cancel(id, c.var.key.orgId, reason ?? null));
  });
  app.post('/esign/envelopes/:id/remind', scoped('esign:write'), async (c) => {
    const { id } = engine.envelope(c.req.param('id'), c.var.key.orgId);
    const { signerId } = parseBody(bodies.remind, await readJson(c.env.incoming));
    return replyEnvelope(c, await engine.remind(id, c.var.key.orgId, signerId ?? null));
  });
  for (const action of ['send', 'cancel', 'remind'])
    app.all(`/esign/envelopes/:id/${action}`, wrongMethod('POST'));
}

/** 401, then 429; every reply from here on carries the three rate headers. Then time catches up. */
function keyed({ store, engine, rates, clock, realClock }: RouteOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    const key = authenticate(c.req.header('authorization'), store.state, clock.now());
    c.set('key', key);
    c.set('caller', key);
    const rate = rates.take(key.id, realClock.now());
    c.header('X-RateLimit-Limit', String(rate.limit));
    c.header('X-RateLimit-Remaining', String(rate.remaining));
    c.header('X-RateLimit-Reset', String(rate.reset));
    if (!rate.allowed) throw new ApiError('RATE_LIMITED', 'Too many requests');
    await engine.expireDue();
    await next();
  });
}

function scoped(scope: Scope) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    requireScope(c.var.key, scope);
    await next();
  });
}

/** Writes each request into the audit log, successes and failures (Authentication 9). */
function audited({ store, clock, randomId }: RouteOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    c.set('caller', null);
    await next();
    const key = c.var.caller;
    const value: AuditRecord = {
      id: `aud_${randomId(10)}`,
      at: isoTime(clock.now()),
      orgId: key?.orgId ?? null,
      keyId: key?.id ?? null,
      action: c.res.status === 429 ? 'api.rate_limited' : 'api.request',
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
    };
    store.note({ kind: 'audit', value });
  });
}

function replyEnvelope(c: ServiceContext, envelope: EnvelopeRecord, status: 200 | 201 = 200): Response {
  return reply(c, { data: envelopeView(envelope) }, status);
}
