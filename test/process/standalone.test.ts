import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, PACKAGE } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
afterAll(() => home.close());

describe.skipIf(PACKAGE !== undefined)('the standalone executable', () => {
  it('extracts nothing for a command that needs no files', async () => {
    const service = await fakeService((_, response) => json(response, 200, { data: { id: 'env_1' } }));
    const cache = home.path('cache');
    const env = { ...service.env, XDG_CACHE_HOME: cache };
    try {
      expect(await home.run(argv`envelopes get env_1 --json`, { env })).toMatchObject({ code: 0 });
      expect(existsSync(cache)).toBe(false);
    } finally {
      await service.server.close();
    }
  });
});
