import { expect, it } from 'vitest';
import { isSamePath } from '../../../src/webhooks/receive/path.ts';

it.each([
  ['/webhooks', true],
  ['/webhooks/', true],
  ['//host/webhooks', false],
  ['/webhooks%2F', false],
  ['/WEBHOOKS', false],
  ['/', false],
])('compares %s with the path of the listener: %s', (path, isSame) => {
  expect(isSamePath(path, '/webhooks')).toBe(isSame);
});
