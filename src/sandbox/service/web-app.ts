import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getRequestListener, RequestError } from '@hono/node-server';
import { Hono } from 'hono';
import { shippedFile } from '../../kernel/files/shipped-file.ts';
import type { PagesOptions } from '../pages/guard.ts';
import { mountPages } from '../pages/index.ts';
import { apiRoutes, type RouteOptions } from './api/routes.ts';
import { asApiError, errorText, invalidBody, notFound } from './base/errors.ts';
import type { ReportFailure } from './base/failure-reporter.ts';
import { errorResponse, loggedPath, type ServiceEnv, unknownRoute, wrongMethod } from './base/web.ts';
import { type ControlOptions, controlRoutes } from './control/control.ts';

/** Returns the app that handles all requests to the service: the API, the control plane, the pages, and the API documents. */
export function webApp(options: RouteOptions & ControlOptions & PagesOptions): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>();
  app.onError((error, c) => errorResponse(c, error));
  app.notFound(unknownRoute);
  app.use('*', async (c, next) => {
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Cache-Control', 'no-store');
    await next();
    if (c.error && c.res.status >= 500)
      options.reportFailure(`${c.req.method} ${loggedPath(c.req.path)}`, c.error);
  });
  app.route('/api/v1', apiRoutes(options));
  app.route('/__sandbox/', controlRoutes(options));
  mountPages(app, options);
  for (const name of ['openapi.yaml', 'sandbox-openapi.yaml'] as const) {
    app.use(`/${name}`, wrongMethod(app));
    app.get(`/${name}`, async (c) => {
      const contract = await readContract(name);
      if (contract === null) throw notFound('Contract');
      return c.body(contract, 200, { 'Content-Type': 'application/yaml; charset=utf-8' });
    });
  }
  return app;
}

/** Requests that don't reach a route also get the API's error format. */
export function attach(
  server: Server,
  reportFailure: ReportFailure,
  answer: Parameters<typeof getRequestListener>[0],
): void {
  const malformed = errorText(invalidBody({ request: ['Is not valid HTTP'] }, 'The request is malformed'));
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  const listener = getRequestListener(answer, {
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      if (error instanceof RequestError) return new Response(malformed, { status: 400, headers });
      reportFailure('A request', error);
      return new Response(errorText(asApiError(error)), { status: 500, headers });
    },
  });
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing));
  server.on('clientError', (_error: Error, socket: Socket) => {
    if (!socket.writable) return;
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(malformed)}\r\n\r\n${malformed}`,
    );
  });
}

/** Returns the text of a file in `contract/`, or null if it doesn't exist. */
async function readContract(
  name: 'openapi.yaml' | 'sandbox-openapi.yaml',
  from: string = fileURLToPath(import.meta.url),
): Promise<string | null> {
  const path = shippedFile(from, join('contract', name));
  return path === undefined ? null : readFile(path, 'utf8');
}
