import type { IncomingHttpHeaders } from 'node:http';
import { createMiddleware } from 'hono/factory';
import { html } from 'hono/html';
import { UPLOAD } from '../model.ts';
import { ApiError, asApiError, invalidBody } from '../service/base/errors.ts';
import { isLocalHost } from '../service/base/host-check.ts';
import type { ServiceContext, ServiceEnv } from '../service/base/web.ts';
import { page } from './layout.ts';
import type { PagesOptions } from './options.ts';

/** Room for a signature and two dozen initials, all drawn as long as a drawing may be. */
const MAX_FORM_BYTES = 1024 * 1024;
/** The only form that takes a file. */
export const UPLOAD_PATH = '/templates';

export function nothingThere(c: ServiceContext) {
  const body = html`<h1>There is nothing here</h1>
    <p>The link is not complete, or it belongs to a sandbox that was reset. The <a href="/mailbox">mailbox</a> has the links.</p>`;
  return page(c, { title: 'Not found', body, status: 404 });
}

/** Anything that went wrong behind a page, as a page. */
export function errorPage(c: ServiceContext, thrown: unknown) {
  const { status, message, details } = asApiError(thrown);
  const reasons = Object.values(details ?? {}).flat();
  const body = html`<h1>That did not work</h1>
    <p>${message}.</p>
    <ul>
      ${reasons.map((reason) => html`<li>${reason}</li>`)}
    </ul>
    <p><a href="/">Back to the dashboard</a></p>`;
  return page(c, { title: 'That did not work', body, status });
}

/** A form of the dashboard; @throws ApiError FORBIDDEN when it does not carry the dashboard's token. */
export async function requireForm(c: ServiceContext, form: string): Promise<Record<string, unknown>> {
  const body = await c.req.parseBody({ all: true });
  if (body.form !== form) {
    throw new ApiError('FORBIDDEN', 'The form is not from this page; reload it and try again');
  }
  return body;
}

/** A file that is refused. */
export function refusedFile(reason: string, status?: 413): ApiError {
  return invalidBody({ pdf: [reason] }, 'The file was not taken', status);
}

export function fileTooLarge(): ApiError {
  return refusedFile(`A PDF may have at most ${UPLOAD.bytes / 1_000_000} MB.`, 413);
}

/** No name that an attacker makes point here opens these pages, and no form is larger than forms are. */
export function ownAddressOnly({ host, engine }: PagesOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    if (!isLocalHost(c.env.incoming, host))
      throw new ApiError('FORBIDDEN', 'This page is shown only under its own address');
    refuseLarge(c.env.incoming.headers, c.req.path === UPLOAD_PATH);
    await engine.catchUp();
    await next();
  });
}

/** By the header alone: a body that is left unread drains, one that was begun would hold the connection. */
function refuseLarge(headers: IncomingHttpHeaders, isUpload: boolean): void {
  if (headers['transfer-encoding'] !== undefined)
    throw invalidBody({ form: ['Send it with a Content-Length.'] }, 'The form was not taken', 411);
  const length = Number(headers['content-length'] ?? 0);
  if (isUpload && length > UPLOAD.bytes + MAX_FORM_BYTES) throw fileTooLarge();
  if (!isUpload && length > MAX_FORM_BYTES)
    throw invalidBody({ form: ['Must be at most 1 MiB.'] }, 'The form was not taken', 413);
}
