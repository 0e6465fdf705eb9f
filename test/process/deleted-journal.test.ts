import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, expect, it } from 'vitest';
import { rowsOf } from '../support/bulk-check.ts';
import { Home } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
afterAll(() => home.close());

it.each([[['--json']], [[]]])(
  'stops a run whose journal is deleted while it sends, and names the run: %j',
  async (flags) => {
    let created = 0;
    const { server, env } = await fakeService((request, response) => {
      if (request.path.includes('/templates')) return json(response, 200, { data: { id: 'tmpl_nda' } });
      if (request.method === 'GET') return json(response, 200, { data: [] });
      if (request.path.endsWith('/send'))
        return json(response, 200, { data: { id: 'env_1', status: 'SENT' } });
      created++;
      rmSync(home.path('state/bulk'), { recursive: true, force: true });
      json(response, 201, { data: { id: `env_${created}`, status: 'DRAFT' } });
    });
    await writeFile(home.path('rows.csv'), rowsOf(9));
    const words = 'bulk create rows.csv --template tmpl_nda --send --yes --concurrency 1'.split(' ');
    const run = await home.run([...words, ...flags], { env });
    await server.close();
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/envelopes list --run run-/);
    expect(created).toBeLessThan(9);
    expect(server.seen.filter(({ path }) => path.endsWith('/send'))).toEqual([]);
  },
);
