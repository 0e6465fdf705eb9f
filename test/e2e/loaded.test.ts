import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, PACKAGE } from '../support/cli.ts';
import { type Loaded, loadedBy } from '../support/loaded.ts';
import { type FakeService, serviceOfOne } from './fake-service.ts';
import figures from './loaded.json' with { type: 'json' };

/*
 * Start-up is a feature (docs/decisions/0008), and what is loaded can be counted where time can't be measured. More than
 * 10 % above the figures in loaded.json fails. Whoever needs more writes the new figure there, and why in the commit.
 */
const ALLOWED = 1.1;
const major = process.versions.node.split('.')[0] ?? '';

const commands: Record<keyof typeof figures, { args: string[]; env?: Record<string, string> }> = {
  '--version': { args: ['--version'] },
  '--help': { args: ['--help'] },
  // Colour is not in the pages that the build has written.
  '--help in colour': { args: ['--help'], env: { FORCE_COLOR: '1' } },
  'envelopes get --json': { args: ['envelopes', 'get', 'env_1', '--json'] },
  'envelopes list': { args: ['envelopes', 'list'] },
};

// A standalone executable is one file.
describe.skipIf(PACKAGE === undefined)('what a command loads', () => {
  const home = new Home();
  let service: FakeService;
  beforeAll(async () => {
    service = await serviceOfOne();
  });
  afterAll(async () => {
    await service.server.close();
    await home.close();
  });

  it.each(Object.entries(commands))('%s', async (name, { args, env }) => {
    const allowed = new Map(Object.entries(figures)).get(name);
    const builtins = new Map(Object.entries(allowed?.builtins ?? {})).get(major);
    const loaded = await loadedBy(home, args, { ...service.env, ...env });
    const most = {
      modules: atMost(allowed?.modules),
      bytes: atMost(allowed?.bytes),
      builtins: builtins === undefined ? loaded.builtins : atMost(builtins),
    };
    expect(
      over(loaded, most),
      `it loads ${JSON.stringify(loaded)} and may load ${JSON.stringify(most)}`,
    ).toEqual([]);
  });
});

function atMost(figure = 0): number {
  return Math.floor(figure * ALLOWED);
}

function over(loaded: Loaded, most: Loaded): string[] {
  return (['modules', 'bytes', 'builtins'] as const).filter((what) => loaded[what] > most[what]);
}
