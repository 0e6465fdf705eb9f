import { get } from 'node:http';
import { connect } from 'node:net';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';

describe('the fence around the tests', () => {
  it('blocks every kind of outside connection', async () => {
    expect(() => connect(80, '192.0.2.1')).toThrow('loopback only');
    expect(() => connect({ port: 80, host: '192.0.2.1' })).toThrow('loopback only');
    await expect(request('http://192.0.2.1/')).rejects.toThrow('loopback only');
    await expect(fetch('http://192.0.2.1/')).rejects.toThrow();
    await expect(
      new Promise((resolve, reject) => {
        get('http://192.0.2.1/', resolve).on('error', reject);
      }),
    ).rejects.toThrow('loopback only');
  });
});
