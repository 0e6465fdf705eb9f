import { createMiddleware } from 'hono/factory';
import { isLoopbackHost } from '../../kernel/network/localhost.ts';
import { html } from '../../pages/html.ts';
import type { ObjectWriter } from '../model.ts';
import { ApiError, asApiError } from '../service/base/errors.ts';
import { isoTime } from '../service/base/sandbox-clock.ts';
import type { ServiceParts } from '../service/base/service-parts.ts';
import type { ServiceContext, ServiceEnv } from '../service/base/web.ts';
import type { Engine } from '../service/engine/engine.ts';
import { respondWithPage } from './layout.ts';

/** The parts of the service that the pages use. */
export interface PagesOptions extends Pick<ServiceParts, 'store' | 'clock' | 'origin'> {
  engine: Engine;
  objects: Pick<ObjectWriter, 'get'>;
}

export function pageNotFound(c: ServiceContext) {
  const body = html`<h1>Page not found</h1>
    <p>The link is incomplete, or the sandbox has been reset. You can find current links in the <a href="/mailbox">mailbox</a>.</p>`;
  return respondWithPage(c, { title: 'Not found', body, status: 404 });
}

/** Returns an error page. */
export function errorPage(c: ServiceContext, thrown: unknown) {
  const { status, message, details } = asApiError(thrown);
  const reasons = Object.values(details ?? {}).flat();
  const body = html`<h1>The request failed</h1>
    <p>${message}.</p>
    <ul>
      ${reasons.map((reason) => html`<li>${reason}</li>`)}
    </ul>
    <p><a href="/">Back to the dashboard</a></p>`;
  return respondWithPage(c, { title: 'Error', body, status });
}

/** Returns middleware that rejects other host names (DNS rebinding). */
export function ownAddressOnly({ engine, clock }: PagesOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    if (!isLocalHost(c.req.header('host')))
      throw new ApiError('FORBIDDEN', "Open this page at the sandbox's own address");
    await engine.catchUp();
    c.set('now', isoTime(clock.now()));
    await next();
  });
}

/** Returns true if the Host header names loopback. Rejects a name that an attacker points here (DNS rebinding). */
function isLocalHost(host = ''): boolean {
  const origin = `http://${host}`;
  return URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
}
