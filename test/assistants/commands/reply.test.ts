import { describe, expect, it } from 'vitest';
import { resultOf } from '../../../src/assistants/commands/mcp-tool.ts';
import { createRedactor } from '../../../src/kernel/redaction.ts';

const said = (value: unknown) => JSON.stringify(resultOf({ data: value }, createRedactor()));

describe('an MCP reply', () => {
  it.each([
    'https://a.test/x#access_token=HIDDEN',
    'https://a.test/x?jwt=HIDDEN',
    'https://a.test/x?a=1&session=HIDDEN',
    'https://a.test/x?X%2DAmz%2DSignature=HIDDEN',
    'https://a.test/x?%74oken=HIDDEN',
    'https://a.test/s/HIDDENabcdefghijkl',
    'esk_HIDDEN1234567890',
    'ESK_HIDDEN1234567890',
  ])('never contains the secret %s', (secret) => {
    expect(said({ subject: `see ${secret} now`, [secret]: 1 })).not.toContain('HIDDEN');
  });

  it('omits signing links by their name, and keeps other links', () => {
    const text = said({ signingUrl: 'https://a.test/HIDDEN', docs: 'https://a.test/page?lang=en#top' });
    expect(text).not.toContain('HIDDEN');
    expect(text).toContain('https://a.test/page?lang=en#top');
  });
});
