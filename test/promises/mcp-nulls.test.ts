import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home } from '../support/cli.ts';
import { Assistant } from '../support/mcp.ts';

const WRITE = ['cancel', 'create', 'remind', 'replace', 'send'];
const home = new Home();
let assistant: Assistant;
let open = '';

beforeAll(async () => {
  await home.sandbox();
  const words = [
    'envelopes',
    'create',
    '--template',
    'tmpl_nda',
    '--signer',
    'Maria <maria@example.com>',
    '--send',
  ];
  open = String((await home.object(words)).id);
  assistant = await Assistant.start(home, ['--allow-write']);
});

describe('null for what is not given', () => {
  it('means the same as leaving it out, in every tool', async () => {
    const given: Record<string, object> = {
      find: { text: 'maria' },
      verify: { paths: ['missing.pdf'] },
      download: { id: open, dir: 'missing' },
      create: { template: 'tmpl_nda', signer: ['Ann <ann@example.com>'], dryRun: true },
      replace: { id: open, subject: 'Corrected', dryRun: true },
    };
    for (const { name, inputSchema } of await assistant.tools()) {
      const properties =
        isRecord(inputSchema) && isRecord(inputSchema.properties) ? inputSchema.properties : {};
      const args = given[String(name)] ?? {
        id: open,
        ...(WRITE.includes(String(name)) ? { dryRun: true } : {}),
      };
      const used = Object.fromEntries(Object.entries(args).filter(([key]) => key in properties));
      const nulls = Object.fromEntries(Object.keys(properties).map((key) => [key, null]));
      const [without, withNulls] = [
        await assistant.call(String(name), used),
        await assistant.call(String(name), { ...nulls, ...used }),
      ];
      expect(withNulls.isError, String(name)).toBe(without.isError);
      expect(JSON.stringify(withNulls.reply), String(name)).not.toContain('validation');
    }
  });

  it('is accepted for optional arguments only', async () => {
    const args = { template: 'tmpl_nda', signer: ['ann@example.com'], metadata: null, dryRun: true };
    expect((await assistant.call('create', args)).isError).toBe(false);
    expect((await assistant.call('get', { id: null })).isError).toBe(true);
  });
});
