import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment, secretsInEnvironment } from '../../../src/kernel/process/child-environment.ts';

const env = {
  PATH: '/bin',
  ESIGN_API_KEY: 'a',
  Esign_Webhook_Secret: 'b',
  AWS_SESSION_TOKEN: 'c',
  AWS_REGION: 'd',
};

describe('the environment of a started program', () => {
  it('contains our variables except the secrets, in any spelling', () => {
    expect(childEnvironment({}, [], env)).toEqual({ PATH: '/bin', AWS_REGION: 'd' });
  });

  it('contains given variables and those that the program needs', () => {
    expect(childEnvironment({ ESIGN_API_KEY: 'own' }, ['AWS_SESSION_TOKEN'], env)).toEqual({
      PATH: '/bin',
      AWS_SESSION_TOKEN: 'c',
      AWS_REGION: 'd',
      ESIGN_API_KEY: 'own',
    });
  });

  it('is built by one function for all programs', async () => {
    const folder = join(import.meta.dirname, '../../../src');
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
    const starting = texts.filter((text) => /import (?!type)[^;]*'node:child_process'/.test(text));
    expect(starting.length).toBeGreaterThan(5);
    for (const text of starting) expect(text).toContain('childEnvironment(');
  });

  it('is searched for the values of secrets', () => {
    expect(secretsInEnvironment(env)).toEqual(['a', 'c']);
  });
});
