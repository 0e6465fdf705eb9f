import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Hono } from 'hono';
import { shippedFile } from '../../kernel/files/shipped-file.ts';
import type { PagesOptions } from '../pages/error-pages.ts';
import { mountPages } from '../pages/index.ts';
import { apiRoutes, type RouteOptions } from './api/routes.ts';
import { notFound } from './base/errors.ts';
import { errorResponse, type ServiceEnv, unknownRoute } from './base/web.ts';
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
    if (c.error && c.res.status >= 500) options.reportFailure(`${c.req.method} ${c.req.path}`, c.error);
  });
  app.route('/api/v1', apiRoutes(options));
  app.route('/__sandbox/', controlRoutes(options));
  mountPages(app, options);
  for (const name of ['openapi.yaml', 'sandbox-openapi.yaml'] as const) {
    app.get(`/${name}`, async (c) => {
      const contract = await readContract(name);
      if (contract === null) throw notFound('Contract');
      return c.body(contract, 200, { 'Content-Type': 'application/yaml; charset=utf-8' });
    });
  }
  return app;
}

/** Returns the text of a file in `contract/`, or null if it doesn't exist. */
async function readContract(name: 'openapi.yaml' | 'sandbox-openapi.yaml'): Promise<string | null> {
  const path = shippedFile(import.meta.filename, join('contract', name));
  return path === undefined ? null : readFile(path, 'utf8');
}
