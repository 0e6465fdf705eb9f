import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, describe as group, it } from 'vitest';
import { describe } from '../../src/cli/describe/print.ts';
import { outputSchemaOf } from '../../src/cli/describe/schema.ts';
import { readCommandTree } from '../../src/completion/commands.ts';
import { isRecord } from '../../src/kernel/json.ts';
import { COMMAND_EFFECTS } from '../../src/kernel/vocabulary.ts';

const root = join(import.meta.dirname, '../..');
const { commands } = readCommandTree(root);
const ids = Object.keys(commands);
const of = (words: string) => describe(words === '' ? [] : words.split(' '), { root, version: '1.2.3' });
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const keys = (value: unknown) => (isRecord(value) ? Object.keys(value) : []);

group('help --json', () => {
  it('describes all commands briefly without a topic: names and effects', () => {
    const all = of('');
    const effects = ids.map((id) => [id.replaceAll(':', ' '), COMMAND_EFFECTS[id]]);
    expect(all.commands).toEqual(Object.fromEntries(effects));
    expect(bytes(all)).toBeLessThanOrEqual(3_000);
  });

  it('lists the commands of a topic', () => {
    const { name, commands: inIt } = of('templates');
    expect([name, inIt]).toEqual(['templates', { 'templates get': 'reads', 'templates list': 'reads' }]);
  });

  it.each(ids)('describes %s in at most 4.5 KB and omits no flag', (id) => {
    const leaf = of(id.replaceAll(':', ' '));
    expect(bytes(leaf)).toBeLessThanOrEqual(4_500);
    expect(leaf.effects).toBe(COMMAND_EFFECTS[id]);
    const flags = Object.entries(commands[id]?.flags ?? {});
    expect(keys(leaf.flags)).toEqual(flags.filter(([, { hidden }]) => hidden !== true).map(([name]) => name));
    expect(keys(leaf.exitCodes)).toEqual(expect.arrayContaining(['0', '1', '2', '130', '143']));
    const schema = typeof leaf.outputSchema === 'string' ? outputSchemaOf(root, id) : leaf.outputSchema;
    if (typeof leaf.outputSchema === 'string')
      expect(leaf.outputSchema).toBe(`esign schema ${id.replaceAll(':', ' ')}`);
    new Ajv2020({ allowUnionTypes: true, keywords: ['x-form'] }).compile(isRecord(schema) ? schema : {});
  });

  it('reports mutually exclusive flags, and only flags that exist', () => {
    expect(of('envelopes list').exclusions).toContainEqual(['all', 'limit']);
    for (const id of ids) {
      const { flags, exclusions } = of(id.replaceAll(':', ' '));
      const named = Array.isArray(exclusions) ? exclusions.flat() : [];
      expect(named.filter((name) => !keys(flags).includes(String(name)))).toEqual([]);
    }
  });

  it.each(['nonsense', 'envelopes nonsense'])('refuses to describe %s', (words) => {
    expect(() => of(words)).toThrow(/Unknown command/);
  });
});
