import type { Hono } from 'hono';
import * as z from 'zod';
import { readJson } from '../base/json-body.ts';
import { parseBody } from '../base/validation.ts';
import { reply, type ServiceEnv } from '../base/web.ts';
import type { ControlPlane } from './control-plane.ts';

const settingsSchema = z.record(z.string(), z.string({ error: 'Must be a string' }));

/** Adds the routes that change how the service behaves: choices and faults. */
export function settingRoutes(app: Hono<ServiceEnv>, { control }: { control: ControlPlane }): void {
  app.get('/choices', (c) => reply(c, { data: control.choices() }));
  app.post('/choices', async (c) => {
    const wanted = parseBody(settingsSchema, await readJson(c.env.incoming));
    return reply(c, { data: control.choices(wanted) });
  });

  app.get('/faults', (c) => reply(c, { data: control.faults() }));
  app.post('/faults', async (c) =>
    reply(c, { data: control.faults((await readJson(c.env.incoming)) ?? {}) }),
  );
  app.delete('/faults', (c) => reply(c, { data: control.faults({}) }));
}
