import { describe, expect, it } from 'vitest';
import { childEnvironment, secretsOf } from '../../src/kernel/child-environment.ts';

const env = {
  PATH: '/bin',
  ESIGN_API_KEY: 'a',
  Esign_Webhook_Secret: 'b',
  AWS_SESSION_TOKEN: 'c',
  AWS_REGION: 'd',
};

describe('the environment of a program that is started', () => {
  it('is ours without our secrets, however they are written', () => {
    expect(childEnvironment({}, [], env)).toEqual({ PATH: '/bin', AWS_REGION: 'd' });
  });

  it('has what the program is given and what it needs', () => {
    expect(childEnvironment({ ESIGN_API_KEY: 'own' }, ['AWS_SESSION_TOKEN'], env)).toEqual({
      PATH: '/bin',
      AWS_SESSION_TOKEN: 'c',
      AWS_REGION: 'd',
      ESIGN_API_KEY: 'own',
    });
  });

  it('tells which secrets are in it', () => {
    expect(secretsOf(env)).toEqual(['a', 'c']);
  });
});
