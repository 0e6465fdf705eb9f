import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Scope } from '../../../kernel/vocabulary.ts';
import type { EnvelopeRecord } from '../../model.ts';
import type { ServiceRules } from '../base/choices.ts';
import { ApiError, templateNotFound } from '../base/errors.ts';
import { readJson } from '../base/request-body.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { ServiceParts } from '../base/service-parts.ts';
import { bodySchemas, parseBody, parseListQuery } from '../base/validation.ts';
import { reply, type ServiceContext, type ServiceEnv, unknownRoute } from '../base/web.ts';
import type { Engine } from '../engine/engine.ts';
import { authenticate, requireScope } from '../store/keys.ts';
import type { AuditRecord } from '../store/records.ts';
import type { SandboxRateReading } from './rate-window.ts';
import { envelopeView, itemsOnPage, listItemView, listResponse, templateView } from './representation.ts';

export interface RouteOptions extends ServiceParts {
  engine: Engine;
}

/** Returns the eight routes of the API (Endpoints), to be mounted at /api/v1. HEAD is handled like GET. */
export function apiRoutes(options: RouteOptions): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>();
  app.use('*', auditRequests(options), requireApiKey(options));
  templateRoutes(app, options);
  envelopeRoutes(app, options);
  actionRoutes(app, options);
  app.all('*', unknownRoute);
  return app;
}

function templateRoutes(app: Hono<ServiceEnv>, options: RouteOptions): void {
  const { rules } = options;
  const { state } = options.store;
  const read = requireScopeOfKey('esign:read');
  app.get('/esign/templates', read, (c) => {
    const { page, pageSize } = parseListQuery(c.req.query());
    const active = [...state.templates.values()].filter((template) => template.active);
    const { items, total } = itemsOnPage(active, page, pageSize);
    const shown = items.map((one) => templateView(one, rules));
    return reply(c, listResponse({ items: shown, total }, page, pageSize, rules));
  });

  app.get('/esign/templates/:id', read, (c) => {
    const template = state.templates.get(c.req.param('id'));
    if (!template) throw templateNotFound();
    return reply(c, { data: templateView(template, rules) });
  });
}

function envelopeRoutes(app: Hono<ServiceEnv>, options: RouteOptions): void {
  const { rules, engine } = options;
  const { state } = options.store;
  const read = requireScopeOfKey('esign:read');
  app.get('/esign/envelopes', read, (c) => {
    const { page, pageSize, status } = parseListQuery(c.req.query());
    const from = rules['list-order'] === 'desc' ? 'newest' : 'oldest';
    const wanted = { status, start: (page - 1) * pageSize, count: pageSize, from } as const;
    const { items, total } = state.envelopePage(c.var.key.orgId, wanted);
    const shown = items.map((one) => listItemView(one, rules));
    return reply(c, listResponse({ items: shown, total }, page, pageSize, rules));
  });
  app.post('/esign/envelopes', requireScopeOfKey('esign:write'), async (c) => {
    const body = parseBody(bodySchemas.create, await readJson(c.env.incoming));
    const envelope = await engine.create(c.var.key.orgId, body);
    return reply(c, { data: envelopeView(envelope, rules) }, 201);
  });

  app.get('/esign/envelopes/:id', read, (c) => {
    const envelope = engine.envelope(c.req.param('id'), c.var.key.orgId);
    return reply(c, { data: envelopeView(envelope, rules) });
  });
}

/** Adds send, cancel, and remind. The API document doesn't show their responses. */
function actionRoutes(app: Hono<ServiceEnv>, { engine, rules }: RouteOptions): void {
  const write = requireScopeOfKey('esign:write');
  app.post('/esign/envelopes/:id/send', write, async (c) =>
    replyAction(c, await engine.send(c.req.param('id'), c.var.key.orgId), rules),
  );
  app.post('/esign/envelopes/:id/cancel', write, async (c) => {
    const { id } = engine.envelope(c.req.param('id'), c.var.key.orgId);
    const { reason } = parseBody(bodySchemas.cancel, await readJson(c.env.incoming));
    return replyAction(c, await engine.cancel(id, c.var.key.orgId, reason ?? null), rules);
  });
  app.post('/esign/envelopes/:id/remind', write, async (c) => {
    const { id } = engine.envelope(c.req.param('id'), c.var.key.orgId);
    const { signerId } = parseBody(bodySchemas.remind, await readJson(c.env.incoming));
    return replyAction(c, await engine.remind(id, c.var.key.orgId, signerId ?? null), rules);
  });
}

/**
 * Returns middleware that checks for 401, then 429. All later responses have the three rate limit headers. Then processes everything that
 * is due.
 */
function requireApiKey({ store, engine, rates, clock, rules }: RouteOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    const now = clock.now();
    const key = authenticate(c.req.header('authorization'), store.state, now);
    c.set('key', key);
    c.set('caller', key);
    const rate = rates.take(key.id, now);
    for (const [name, value] of rateHeaders(rate, now, rules)) c.header(name, String(value));
    if (!rate.allowed) throw new ApiError('RATE_LIMITED', 'Too many requests');
    await engine.catchUp();
    await next();
  });
}

function rateHeaders(rate: SandboxRateReading, now: number, rules: ServiceRules): [string, number][] {
  const { allowed, limit, remaining, resetsAt } = rate;
  const retryAfter: [string, number][] =
    !allowed && rules['retry-after'] === 'on' ? [['Retry-After', Math.ceil((resetsAt - now) / 1000)]] : [];
  if (rules['rate-headers'] === 'missing') return retryAfter;
  const reset = rules['rate-headers'] === 'seconds' ? Math.ceil(resetsAt / 1000) : resetsAt;
  return [
    ['X-RateLimit-Limit', limit],
    ['X-RateLimit-Remaining', remaining],
    ['X-RateLimit-Reset', reset],
    ...retryAfter,
  ];
}

/** Returns middleware that responds with 403 for a key without the permission. */
function requireScopeOfKey(scope: Scope) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    requireScope(c.var.key, scope);
    await next();
  });
}

/** Returns middleware that writes each request to the audit log, successful or not (Authentication 9). */
function auditRequests({ store, clock, randomId }: RouteOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    c.set('caller', null);
    await next();
    const key = c.var.caller;
    const value: AuditRecord = {
      id: `aud_${randomId(10, 'aud')}`,
      at: isoTime(clock.now()),
      orgId: key?.orgId ?? null,
      keyId: key?.id ?? null,
      action: c.res.status === 429 ? 'api.rate_limited' : 'api.request',
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
    };
    store.state.addAudit(value);
  });
}

function replyAction(c: ServiceContext, envelope: EnvelopeRecord, rules: ServiceRules): Response {
  switch (rules['action-reply']) {
    case 'envelope':
      return reply(c, { data: envelopeView(envelope, rules) });
    case 'success':
      return reply(c, { data: { success: true } });
    case 'empty204':
      return c.body(null, 204);
  }
}
