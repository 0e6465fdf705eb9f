import { expect, it } from 'vitest';
import { Confirmations, callFingerprint } from '../../../src/assistants/commands/write-tools.ts';

const MINUTE = 60_000;

function made() {
  const clock = { now: 0 };
  return { clock, all: new Confirmations<string>(() => clock.now) };
}

it('allows a confirmed call once, with identical arguments', async () => {
  const { all } = made();
  const value = all.issue('send env_1', () => Promise.resolve('sent'));
  expect(() => all.redeem(value, 'send env_2')).toThrow(/different arguments/);
  expect(await all.redeem(value, 'send env_1')()).toBe('sent');
  const used = (() => {
    try {
      return all.redeem(value, 'send env_1');
    } catch (error) {
      return error;
    }
  })();
  expect(used).toMatchObject({ code: 'USAGE', message: expect.stringContaining('already used') as unknown });
});

it('expires a confirmation after 15 minutes, and the oldest one first if there are very many', () => {
  const { clock, all } = made();
  const give = () => all.issue('call', () => Promise.resolve(''));
  const first = give();
  clock.now = 15 * MINUTE + 1;
  expect(() => all.redeem(first, 'call')).toThrow(/expired/);
  const many = Array.from({ length: 101 }, give);
  expect(() => all.redeem(many[0] ?? '', 'call')).toThrow(/expired/);
  expect(all.redeem(many[1] ?? '', 'call')).toBeTypeOf('function');
});

it.each([
  [{ a: 1, b: { c: [1], d: 2 } }, { b: { d: 2, c: [1] }, a: 1 }, true],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: [1, 2] }, { a: [2, 1] }, false],
  [{ a: '1' }, { a: 1 }, false],
  [{ a: [['b', 1]] }, { a: { b: 1 } }, false],
])('treats %j and %j as the same call: %s', (one, other, same) => {
  expect(callFingerprint('send', one) === callFingerprint('send', other)).toBe(same);
});
