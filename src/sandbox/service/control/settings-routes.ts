import type { Hono } from 'hono';
import * as z from 'zod';
import { type Choices, problemsIn } from '../base/choices.ts';
import { invalidBody } from '../base/errors.ts';
import { readJson } from '../base/json-body.ts';
import { parseBody } from '../base/validation.ts';
import { reply, type ServiceEnv } from '../base/web.ts';
import { checkFaults, type Faults } from '../faults/faults.ts';

const settingsSchema = z.record(z.string(), z.string({ error: 'Must be a string' }));

/** The part of the control plane that changes how the service behaves: choices and faults. */
export function settingRoutes(
  app: Hono<ServiceEnv>,
  { choices, faults }: { choices: Choices; faults: Faults },
): void {
  app.get('/choices', (c) => reply(c, { data: choices.list() }));
  app.post('/choices', async (c) => {
    const wanted = parseBody(settingsSchema, await readJson(c.env.incoming));
    const problems = problemsIn(wanted);
    if (Object.keys(problems).length > 0) throw invalidBody(problems, 'The choices are not valid');
    choices.set(wanted);
    return reply(c, { data: choices.list() });
  });

  app.get('/faults', (c) => reply(c, { data: faults.view() }));
  app.post('/faults', async (c) => {
    const checked = checkFaults((await readJson(c.env.incoming)) ?? {});
    if ('details' in checked) throw invalidBody(checked.details, 'The faults are not valid');
    faults.set(checked.data);
    return reply(c, { data: faults.view() });
  });
  app.delete('/faults', (c) => {
    faults.set({});
    return reply(c, { data: faults.view() });
  });
}
