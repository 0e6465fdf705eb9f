import { describe, expect, it } from 'vitest';
import { checkNode, checkProxy } from '../../../src/accounts/doctor/checks.ts';
import type { DoctorContext } from '../../../src/accounts/doctor/doctor-context.ts';

const unused = () => Promise.reject(new Error('not asked for'));

function context(given: Partial<DoctorContext>): DoctorContext {
  return {
    nodeVersion: 'v22.1.0',
    platform: 'linux',
    env: {},
    configDir: '/nowhere/config',
    stateDir: '/nowhere/state',
    storeFile: '/nowhere/config/profiles.json',
    settings: unused,
    guards: unused,
    client: unused,
    checkBucket: unused,
    index: unused,
    now: () => 0,
    signal: new AbortController().signal,
    ...given,
  };
}

describe('this machine', () => {
  it.each([
    ['v20.19.0', 'ok'],
    ['v20.18.3', 'failed'],
    ['v18.20.0', 'failed'],
    ['v22.0.0', 'ok'],
  ])('checks Node %s: %s', (nodeVersion, status) => {
    expect(checkNode(context({ nodeVersion })).check.status).toBe(status);
  });

  it.each([
    ['https://api.example.com/v1', {}, 'ok', 'none'],
    [
      'https://api.example.com/v1',
      { HTTP_PROXY: 'http://p:1' },
      'ok',
      'none (HTTP_PROXY applies to http:// only)',
    ],
    [
      'https://api.example.com/v1',
      { https_proxy: 'http://me:secret@p:3128' },
      'ok',
      'http://p:3128 (https_proxy)',
    ],
    ['https://127.0.0.1:4010/v1', { HTTPS_PROXY: 'http://p:1' }, 'warning', /this machine/],
    ['https://127.0.0.1:4010/v1', { HTTPS_PROXY: 'http://p:1', no_proxy: '*' }, 'ok', /NO_PROXY/],
    ['https://api.example.com/v1', { HTTPS_PROXY: 'socks5://p:1' }, 'failed', /SOCKS/],
  ])('checks the proxy for %s with %j: %s', (url, env: Record<string, string>, status, message) => {
    const { check } = checkProxy(context({ env }), new URL(url));
    expect(check.status).toBe(status);
    expect(check.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    expect(check.message).not.toContain('secret');
  });
});
