import { expect, it } from 'vitest';
import { isSamePath } from '../../../src/webhooks/receive/path.ts';

it.each([
  ['/webhooks', true],
  ['/webhooks/', true],
  ['http://127.0.0.1:4242/webhooks', true],
  ['HTTPS://hooks.example/webhooks/', true],
  ['http://user@host/webhooks', true],
  ['/%77ebhooks', true],
  ['/webh%6F%6fks', true],
  ['http://host', false],
  ['http://host/other', false],
  ['//host/webhooks', false],
  ['/webhooks%2F', false],
  ['/webhooks%00', false],
  ['/WEBHOOKS', false],
  ['/%', false],
])('compares %s with the path of the listener: %s', (path, isSame) => {
  expect(isSamePath(path, '/webhooks')).toBe(isSame);
});

it('accepts a URL without a path for the root', () => {
  expect(isSamePath('http://host', '/')).toBe(true);
});
