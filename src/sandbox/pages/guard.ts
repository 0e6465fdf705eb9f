import type { IncomingHttpHeaders } from 'node:http';
import { createMiddleware } from 'hono/factory';
import { html } from 'hono/html';
import { type ObjectWriter, UPLOAD } from '../model.ts';
import { ApiError, asApiError, invalidBody } from '../service/base/errors.ts';
import type { ServiceParts } from '../service/base/parts.ts';
import { isoTime } from '../service/base/sandbox-clock.ts';
import { isLocalHost, type ServiceContext, type ServiceEnv } from '../service/base/web.ts';
import type { KeyContext } from '../service/control/key-actions.ts';
import type { TemplateService } from '../service/control/template-service.ts';
import type { Engine } from '../service/engine/engine.ts';
import { page } from './layout.ts';

/** The parts of the service that the pages use. */
export interface PagesOptions extends KeyContext, Pick<ServiceParts, 'origin'> {
  engine: Engine;
  templates: TemplateService;
  objects: Pick<ObjectWriter, 'get'>;
}

/** The maximum form size, enough for a signature and two dozen initials with drawings of the maximum length. */
const MAX_FORM_BYTES = 1024 * 1024;
/** The path of the only form that accepts a file. */
export const UPLOAD_PATH = '/templates';

export function pageNotFound(c: ServiceContext) {
  const body = html`<h1>Page not found</h1>
    <p>The link is incomplete, or the sandbox has been reset. You can find current links in the <a href="/mailbox">mailbox</a>.</p>`;
  return page(c, { title: 'Not found', body, status: 404 });
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
  return page(c, { title: 'Error', body, status });
}

/** Reads a posted form; with `all`, a repeated field is a list. Throws VALIDATION_ERROR if the body is malformed. */
export async function readForm(
  c: ServiceContext,
  options = { all: false },
): Promise<Record<string, unknown>> {
  try {
    return await c.req.parseBody(options);
  } catch {
    throw invalidBody({ form: ['Must be a valid form.'] }, 'The form was refused');
  }
}

/** Reads a posted form. Throws FORBIDDEN if it doesn't contain the token of these pages. */
export async function requireForm(c: ServiceContext, form: string): Promise<Record<string, unknown>> {
  const body = await readForm(c, { all: true });
  if (body.form !== form) {
    throw new ApiError('FORBIDDEN', 'This form is out of date. Reload the page and try again');
  }
  return body;
}

/** Returns the text of a posted field; empty if the field is missing or a file. */
export function textIn(posted: unknown): string {
  return typeof posted === 'string' ? posted : '';
}

/** Creates the error for a rejected file. */
export function refusedFile(reason: string, status?: 413): ApiError {
  return invalidBody({ pdf: [reason] }, 'The file was refused', status);
}

export function fileTooLarge(): ApiError {
  return refusedFile(`The PDF must not be larger than ${UPLOAD.bytes / 1_000_000} MB.`, 413);
}

/** Returns middleware that rejects other host names (DNS rebinding) and forms that are too large. */
export function ownAddressOnly({ engine, clock }: PagesOptions) {
  return createMiddleware<ServiceEnv>(async (c, next) => {
    if (!isLocalHost(c.env.incoming))
      throw new ApiError('FORBIDDEN', "Open this page at the sandbox's own address");
    refuseLarge(c.env.incoming.headers, c.req.path === UPLOAD_PATH);
    await engine.catchUp();
    c.set('now', isoTime(clock.now()));
    await next();
  });
}

/** Rejects large forms by their headers. An unread body is drained, but a partly read one would keep the connection busy. */
function refuseLarge(headers: IncomingHttpHeaders, isUpload: boolean): void {
  if (headers['transfer-encoding'] !== undefined)
    throw invalidBody({ form: ['A Content-Length header is required.'] }, 'The form was refused', 411);
  const length = Number(headers['content-length'] ?? 0);
  if (isUpload && length > UPLOAD.bytes + MAX_FORM_BYTES) throw fileTooLarge();
  if (!isUpload && length > MAX_FORM_BYTES)
    throw invalidBody({ form: ['Must be at most 1 MiB.'] }, 'The form was refused', 413);
}
