import { writeFile } from 'node:fs/promises';
import { afterAll, expect, it } from 'vitest';
import { Home } from '../support/cli.ts';

const home = new Home();
afterAll(() => home.close());

it.each(['--version --verbose', 'profiles list --json'])(
  'runs without node:sea, as in Bun: %s',
  async (words) => {
    await writeFile(
      home.path('no-sea.cjs'),
      `const module_ = require('node:module');
      const { isBuiltin, _load } = module_;
      module_.isBuiltin = (name) => name !== 'node:sea' && isBuiltin(name);
      module_._load = (name, ...rest) => {
        if (name === 'node:sea') throw new Error('No such built-in module: node:sea');
        return _load(name, ...rest);
      };`,
    );
    const env = { NODE_OPTIONS: `--require ${home.path('no-sea.cjs')}` };
    const running = home.start(words.split(' '), { env });
    expect([(await running.ended).code, await running.stderr]).toEqual([0, '']);
  },
);
