import { describe, expect, it } from 'vitest';
import {
  BadResponseError,
  isAmbiguous,
  isOutage,
  isRateLimited,
  NetworkError,
  ServiceError,
  UnknownOutcomeError,
  UsageError,
} from '../../src/kernel/errors.ts';

const service = (code: string, status: number) => new ServiceError(code, 'x', { status });
const questions = { isAmbiguous, isOutage, isRateLimited };

describe('the kind of an error', () => {
  it.each<[string, unknown, (keyof typeof questions)[]]>([
    ['a lost reply', new NetworkError('NETWORK', 'x', { maybeReceived: true }), ['isAmbiguous', 'isOutage']],
    ['a request that never left', new NetworkError('TIMEOUT', 'x', { maybeReceived: false }), ['isOutage']],
    ['a reply that is not the API', new BadResponseError('x', { status: 200 }), ['isAmbiguous', 'isOutage']],
    ['an error of the service', service('INTERNAL_ERROR', 500), ['isAmbiguous', 'isOutage']],
    ['a write that was looked for in vain', new UnknownOutcomeError('x'), ['isAmbiguous', 'isOutage']],
    ['too many requests', service('RATE_LIMITED', 429), ['isRateLimited']],
    ['a refusal', service('VALIDATION_ERROR', 400), []],
    ['an odd refusal', service('ODD', 418), []],
    ['a request that was given up, 408', service('ODD', 408), ['isAmbiguous', 'isOutage']],
    ['a request that was given up, 425', service('ODD', 425), ['isAmbiguous', 'isOutage']],
    ['a request that was given up, 499', service('ODD', 499), ['isAmbiguous', 'isOutage']],
    ['a mistake here', new UsageError('x'), []],
    ['no error', 'x', []],
  ])('is derived for %s', (_, error, answers) => {
    const said = Object.entries(questions).filter(([, ask]) => ask(error));
    expect(said.map(([name]) => name)).toEqual(answers);
  });
});
