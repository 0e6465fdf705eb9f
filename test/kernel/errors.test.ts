import { describe, expect, it } from 'vitest';
import {
  BadResponseError,
  NetworkError,
  ServiceError,
  UnknownOutcomeError,
  UsageError,
} from '../../src/kernel/errors.ts';
import { isAmbiguous, isOutage, isRateLimited } from '../../src/kernel/request-failures.ts';

const service = (code: string, status: number) => new ServiceError(code, 'x', { status });
const questions = { isAmbiguous, isOutage, isRateLimited };

describe('the kind of an error', () => {
  it.each<[string, unknown, (keyof typeof questions)[]]>([
    [
      'a lost response',
      new NetworkError('NETWORK', 'x', { maybeReceived: true }),
      ['isAmbiguous', 'isOutage'],
    ],
    [
      'a request that was never sent',
      new NetworkError('TIMEOUT', 'x', { maybeReceived: false }),
      ['isOutage'],
    ],
    [
      'a response that is not from the API',
      new BadResponseError('x', { status: 200 }),
      ['isAmbiguous', 'isOutage'],
    ],
    ['a service error', service('INTERNAL_ERROR', 500), ['isAmbiguous', 'isOutage']],
    ['an error in a successful response', service('VALIDATION_ERROR', 200), ['isAmbiguous', 'isOutage']],
    ['an error in a response without content', service('ODD', 204), ['isAmbiguous', 'isOutage']],
    ['a write that was not found', new UnknownOutcomeError('x'), ['isAmbiguous', 'isOutage']],
    ['too many requests', service('RATE_LIMITED', 429), ['isRateLimited']],
    ['a refusal', service('VALIDATION_ERROR', 400), []],
    ['an unusual refusal', service('ODD', 418), []],
    ['an aborted request, 408', service('ODD', 408), ['isAmbiguous', 'isOutage']],
    ['an aborted request, 425', service('ODD', 425), ['isAmbiguous', 'isOutage']],
    ['an aborted request, 499', service('ODD', 499), ['isAmbiguous', 'isOutage']],
    ['a usage error', new UsageError('x'), []],
    ['a string', 'x', []],
  ])('is derived for %s', (_, error, answers) => {
    const said = Object.entries(questions).filter(([, ask]) => ask(error));
    expect(said.map(([name]) => name)).toEqual(answers);
  });
});
