import { describe, expect, it } from 'vitest';
import { keyProblem } from '../../../src/kernel/text/api-key.ts';

describe('an API key', () => {
  it.each(['esk_abc123', 'a"b', 'sk-proj_1.2~3==', '$', "'x", 'YWJj==', 'A_KEY='])('can be %s', (key) => {
    expect(keyProblem(key)).toBeUndefined();
  });

  it.each([
    ['"esk_abc123"', 'quotes'],
    ["'esk_abc123'", 'quotes'],
    ['esk_abc123"', 'ends with a quote'],
    ['ESIGN_API_KEY=esk_abc123', 'begins with "ESIGN_API_KEY="'],
    ['api_key=esk_abc123', 'begins with "api_key="'],
    ['{"apiKey":"esk_abc123"}', 'JSON'],
    ['undefined', 'placeholder'],
    ['null', 'placeholder'],
    ['***', 'placeholder'],
    ['$ESIGN_KEY', 'placeholder'],
    ['$' + '{ESIGN_KEY}', 'placeholder'],
    ['<your-key>', 'placeholder'],
    ['[REDACTED]', 'placeholder'],
    ['%ESIGN_KEY%', 'placeholder'],
    ['{{key}}', 'placeholder'],
    ['Bearer esk_abc123', 'space'],
    ['esk_ключ', 'not ASCII'],
  ])("can't be %s", (key, problem) => {
    expect(keyProblem(key)).toContain(problem);
  });
});
