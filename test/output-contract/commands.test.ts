import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CommandFacts, readCommandTree } from '../../src/cli/completion/command-tree.ts';
import { exitCodesOf } from '../../src/cli/describe/describe-commands.ts';
import { COMMAND_EFFECTS } from '../../src/kernel/command-effects.ts';
import { isRecord } from '../../src/kernel/json.ts';
import { outputSchemas } from './schemas.ts';
import { SHAPES } from './shapes.ts';

const root = join(import.meta.dirname, '../..');
const { commands } = readCommandTree(root);
const ids = Object.keys(commands).sort();

type Facts = Readonly<Record<string, unknown>>;

/** One line for each interface that a script may use, so that a change shows as a line in a diff. */
function contractOf(id: string, command: CommandFacts): string {
  const args = Object.values(command.args).map(
    (arg) => `  ${arg.name.toUpperCase()}${command.strict === false ? '...' : ''}${factsOf(arg)}`,
  );
  const flags = Object.values(command.flags)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((flag) => `  ${flag.char ? `-${flag.char}, ` : ''}--${flag.name}${factsOf(flag)}`);
  const aliases = listOf(command.aliases).map((alias) => `  alias ${alias}`);
  const world = [
    `  effects: ${COMMAND_EFFECTS[id] ?? ''}`,
    `  exits: ${Object.keys(exitCodesOf(id)).join(' ')}`,
  ];
  return `${[id.replaceAll(':', ' '), ...world, ...aliases, ...args, ...flags].join('\n')}\n`;
}

function factsOf(facts: Facts): string {
  const words = [
    facts.type === 'option' ? 'takes a value' : '',
    facts.required === true ? 'required' : '',
    facts.multiple === true ? 'repeatable' : '',
    facts.allowNo === true ? `or --no-${String(facts.name)}` : '',
    facts.default === undefined ? '' : `default ${JSON.stringify(facts.default)}`,
    facts.hidden === true ? 'hidden' : '',
    facts.env === undefined ? '' : `from ${String(facts.env)}`,
    named('one of', facts.options),
    named('not with', facts.exclusive),
    named('only with', facts.dependsOn),
    named('alias', facts.aliases),
    named('short alias', facts.charAliases),
    isRecord(facts.deprecated) || facts.deprecated === true ? 'deprecated' : '',
  ].filter((word) => word !== '');
  return words.length === 0 ? '' : `: ${words.join('; ')}`;
}

function named(what: string, value: unknown): string {
  const all = listOf(value);
  return all.length === 0 ? '' : `${what} ${all.join(', ')}`;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

describe('the output contract', () => {
  it('lists these commands, arguments, and flags: contract/commands.txt', async () => {
    const all = ids.flatMap((id) => {
      const command = commands[id];
      return command === undefined ? [] : [contractOf(id, command)];
    });
    await expect(all.join('\n')).toMatchFileSnapshot(join(root, 'contract/commands.txt'));
  });

  it('describes the --json output of each command', () => {
    expect(Object.keys(SHAPES).sort()).toEqual(ids);
  });

  it('defines the effect of each command', () => {
    expect(Object.keys(COMMAND_EFFECTS).sort()).toEqual(ids);
  });

  it('names the value of each flag in the help', () => {
    const nameless = Object.entries(commands).flatMap(([id, { flags }]) =>
      Object.values(flags)
        .filter((flag) => flag.type === 'option' && flag.helpValue === undefined)
        .map(({ name }) => `${id} --${name}`),
    );
    expect(nameless).toEqual([]);
  });

  it.each(Object.entries(outputSchemas()))('matches contract/output/%s.json', async (name, schema) => {
    expect(schema.$id).toBe(`${name}.json`);
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(join(root, `contract/output/${name}.json`));
  });

  it('contains no schema of a removed command', async () => {
    const known = new Set(Object.keys(outputSchemas()).map((name) => `${name}.json`));
    const files = await readdir(join(root, 'contract/output'));
    expect(files.filter((file) => !known.has(file))).toEqual([]);
  });
});
