import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCommandTree } from '../../../src/cli/completion/command-tree.ts';
import { HELP_TOPICS } from '../../../src/cli/help.ts';
import { wrapCommand } from '../../../src/cli/wrap-command.ts';
import { isRecord, parseJson } from '../../../src/kernel/json.ts';
import { widthOf } from '../../../src/output/text.ts';
import { incompleteness, problemOf } from './calls.ts';
import { callsOf } from './page.ts';

const root = join(import.meta.dirname, '../../..');
const tree = readCommandTree(root);
const commands = Object.entries(tree.commands);
const helpPages = await readdir(join(root, 'dist/help'));
const parsed = parseJson(await readFile(join(root, 'package.json'), 'utf8'));
const oclif = isRecord(parsed) ? parsed.oclif : undefined;

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map((one) => String(one).replaceAll('<%= config.bin %>', 'esign')) : [];
}

describe('the help of a command', () => {
  it.each(commands)('has a one-line summary: %s', (_, { summary = '' }) => {
    expect(summary).toMatch(/^[A-Z][^\n]*[^.\n]\.$/);
    expect(summary.length).toBeLessThanOrEqual(80);
    expect(summary).not.toContain('!');
  });

  it.each(commands)('has three examples with valid flags and arguments: %s', (id, command) => {
    const examples = textsOf(command.examples);
    expect(examples.length).toBeGreaterThanOrEqual(3);
    const shell = { page: id, line: 0, language: 'sh', notes: new Map<string, string>() };
    // The help of `sandbox exec` also shows requests to the sandbox.
    for (const text of examples.filter((one) => !one.startsWith('curl '))) {
      const calls = callsOf({ ...shell, text });
      expect(calls.length, text).toBeGreaterThan(0);
      for (const call of calls) expect(problemOf(tree, call) || incompleteness(tree, call)).toBe('');
    }
    expect(examples.some((text) => text.includes(`esign ${id.replaceAll(':', ' ')}`))).toBe(true);
  });

  it.each(commands)('groups its flags and describes each one: %s', (_, { flags }) => {
    const groups = new Set(Object.values(flags).map((flag) => flag.helpGroup));
    for (const group of groups)
      expect(Object.values(flags).filter((flag) => flag.helpGroup === group).length).toBeLessThanOrEqual(10);
    for (const { name, description } of Object.values(flags))
      expect(description, name).toMatch(/^(?:[a-z]|[A-Z]{2,})[^\n]*[^.\n]$/);
  });
});

describe('the help of a topic', () => {
  const topics: Record<string, unknown> = isRecord(oclif) && isRecord(oclif.topics) ? oclif.topics : {};

  it('exists for each topic', () => {
    const used = commands.filter(([id]) => id.includes(':')).map(([id]) => id.split(':')[0]);
    expect(Object.keys(topics).sort()).toEqual([...new Set(used)].sort());
  });

  it.each(Object.entries(topics))('describes the topic and its typical workflow: %s', (_, topic) => {
    const text = isRecord(topic) ? String(topic.description) : '';
    const [first = '', ...more] = text.split('\n');
    expect(first).toMatch(/^[A-Z].*\.$/);
    expect(more.join(' ').length).toBeGreaterThan(80);
  });
});

describe('a help page', () => {
  it('exists for every command and topic', () => {
    const topics = [...Object.keys(tree.topics), ...Object.keys(HELP_TOPICS)];
    const wanted = [...commands.map(([id]) => id.replaceAll(':', ' ')), ...topics, 'esign'];
    // A word can be both a command and a topic.
    expect(helpPages.sort()).toEqual([...new Set(wanted)].map((name) => `${name}.txt`).sort());
  });

  it.each(helpPages)(
    'fits in 80 columns and 60 lines, and reveals nothing about the build machine: %s',
    async (file) => {
      const text = await readFile(join(root, 'dist/help', file), 'utf8');
      expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
      expect(text.split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
      expect(text).not.toMatch(/node-v|\u001b/);
    },
  );
});

describe('the lines of an example', () => {
  it('are broken before a flag, and a flag keeps its value', () => {
    expect(wrapCommand("$ esign create --template tmpl_lease --signer 'A B <a@b.c>' --send", 40)).toBe(
      "$ esign create --template tmpl_lease \\\n    --signer 'A B <a@b.c>' --send",
    );
  });

  it('keep the same words, and fit where possible', () => {
    const word = fc.stringMatching(/^[a-z-]{1,12}$|^'[a-z ]{1,12}'$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 40, max: 100 }), (words, width) => {
        const lines = wrapCommand(words.join(' '), width);
        expect(lines.replaceAll(/ \\\n {4}/g, ' ')).toBe(words.join(' '));
        for (const line of lines.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
      }),
    );
  });
});
