import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signersNamed } from '../../src/catalog/named-signer.ts';
import { errorText, reportOf } from '../../src/cli/error-report.ts';
import { exitCodeOf } from '../../src/cli/exit-codes.ts';
import {
  BadResponseError,
  NetworkError,
  NoProfileError,
  PartialError,
  ServiceError,
  StorageError,
  UnexpectedStatusError,
  UnknownOutcomeError,
  UsageError,
  WaitTimeoutError,
} from '../../src/kernel/errors.ts';
import { createRedactor } from '../../src/kernel/redaction.ts';
import { anyText } from '../support/any-text.ts';

const service = (code: string, status: number) => new ServiceError(code, 'm', { status });
/** Returns what an action throws. */
function asThrown(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

const plain = { json: false, redactor: createRedactor(), style: (_: string, text: string) => text };

describe('exit codes', () => {
  it.each([
    [new UsageError('x'), 2],
    [new NoProfileError('x'), 3],
    [service('UNAUTHORIZED', 401), 3],
    [service('FORBIDDEN', 403), 3],
    [service('QUOTA_EXCEEDED', 403), 7],
    [service('NOT_FOUND', 404), 4],
    [service('INVALID_STATE', 400), 5],
    [service('VALIDATION_ERROR', 400), 6],
    [service('RATE_LIMITED', 429), 7],
    [service('INTERNAL_ERROR', 500), 8],
    [service('constructor', 400), 1],
    [service('toString', 500), 8],
    [service('BRAND_NEW', 404), 4],
    [service('BRAND_NEW', 400), 1],
    [service('BRAND_NEW', 418), 1],
    [service('NOT_FOUND', 200), 4],
    [new NetworkError('NETWORK', 'x', { maybeReceived: false }), 8],
    [new NetworkError('TIMEOUT', 'x', { maybeReceived: true }), 8],
    [new BadResponseError('x', { status: 200 }), 8],
    [new UnknownOutcomeError('x'), 8],
    [new StorageError('STORAGE_DENIED', 'x'), 9],
    [new PartialError('x'), 10],
    [new UnexpectedStatusError('x'), 11],
    [new WaitTimeoutError('x'), 124],
    [new Error('x'), 1],
    ['thrown text', 1],
  ])('maps %s to %i', (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});

describe('the report of an error', () => {
  const invalid = new ServiceError('VALIDATION_ERROR', 'Invalid body', {
    status: 400,
    details: { 'signers.0.role': ['no such role', 'pick one'] },
  });

  it('shows what failed, each detail with its field, and what to do next', () => {
    const state = service('INVALID_STATE', 400);
    state.subject = { kind: 'envelope', id: 'env_1' };
    expect(errorText(state, plain)).toBe(
      'Error: env_1: m (INVALID_STATE)\nCheck its status: `esign envelopes get env_1`.\n',
    );
    expect(errorText(invalid, plain)).toBe(
      'Error: Invalid body (VALIDATION_ERROR)\n  signers.0.role: no such role\n  signers.0.role: pick one\nFix these values and run the command again. To see the request, add --debug.\n',
    );
  });

  it('is one JSON line with all fields', () => {
    const line = errorText(invalid, { ...plain, json: true });
    expect(line.trimEnd()).not.toContain('\n');
    expect(JSON.parse(line)).toEqual({
      error: {
        code: 'VALIDATION_ERROR',
        message: 'Invalid body',
        status: 400,
        details: invalid.details,
        hint: 'Fix these values and run the command again. To see the request, add --debug.',
        next: [],
        outcome: null,
        exitCode: 6,
      },
    });
  });

  it('names the commands in its hint that can be run as they stand, with quoted words as a whole', () => {
    const nextOf = (hint: string) => reportOf(new UsageError('x', { hint })).next;
    expect(nextOf('Run `esign late`, `esign envelopes get env_1`, or `esign late`.')).toEqual([
      'esign late',
      'esign envelopes get env_1',
    ]);
    expect(nextOf("Run `esign find 'a `b` c' --status SENT`.")).toEqual([
      "esign find 'a `b` c' --status SENT",
    ]);
    for (const line of [
      'esign envelopes get ID',
      'esign envelopes send -',
      'esign envelopes create',
      'esign bulk create',
      'esign events trigger',
      'esign late | sh',
      'unset X',
      'esign a …',
    ])
      expect(nextOf(`Run \`${line}\`.`)).toEqual([]);
  });

  it('takes no command from the address of a signer, and no line from a name or a message of the service', () => {
    const email = '"`esign envelopes cancel --all --yes`"@b.c';
    const error = asThrown(() =>
      signersNamed({ id: 'env_1', signers: [{ email }, { email: 'a@b.c' }] }, 'x'),
    );
    expect(reportOf(error)).toMatchObject({ hint: 'Its signers are a@b.c.', next: [] });
    const forged = new ServiceError('INVALID_STATE', 'no\nRun `rm -rf .`', { status: 400 });
    expect(errorText(forged, plain)).toMatch(/^Error: no⏎Run `rm -rf \.` \(INVALID_STATE\)\n/);
    expect(errorText(new UsageError('No one signs as A\nB.'), plain)).toBe('Error: No one signs as A⏎B.\n');
  });

  it('contains no part of a secret that would be at the end of a line', () => {
    const secret = 'correct horse battery staple';
    const redactor = createRedactor([secret]);
    for (let before = 1; before < 100; before++) {
      const error = new UsageError(`${'x'.repeat(before)} ${secret} is not a key.`);
      expect(errorText(error, { ...plain, redactor })).not.toMatch(/horse|battery/);
    }
  });

  it('never contains a stack, a raw control character, or a known secret, whatever the service returns', () => {
    const secret = 'sk_live_canary_secret';
    const redactor = createRedactor([secret]);
    fc.assert(
      fc.property(anyText, anyText, (before, after) => {
        const error = new ServiceError('X', `${before}${secret}${after}`, {
          status: 400,
          details: { [before]: [secret + after] },
        });
        const text = errorText(error, { ...plain, redactor });
        expect(text).not.toContain(secret);
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}]/u);
        expect(errorText(error, { ...plain, redactor, json: true })).not.toContain(secret);
      }),
    );
  });

  it('labels internal errors as bugs', () => {
    expect(reportOf(new TypeError('x is undefined'))).toMatchObject({ code: 'UNEXPECTED', exitCode: 1 });
  });
});
