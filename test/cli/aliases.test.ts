import { describe, expect, it } from 'vitest';
import { resolveAliases, suggestCommand } from '../../src/cli/boot/aliases.ts';
import { COMMAND_EFFECTS } from '../../src/kernel/vocabulary.ts';

const names = Object.keys(COMMAND_EFFECTS).map((id) => id.replaceAll(':', ' '));
const commands = Object.fromEntries(names.map((name) => [name, () => ({})]));
const ours = (line: string) => resolveAliases(line === '' ? [] : line.split(' '), { commands }).join(' ');

describe('commands of other tools', () => {
  it.each([
    ['help', '--help'],
    ['help envelopes send', 'envelopes send --help'],
    ['envelopes ls --all', 'envelopes list --all'],
    ['templates show tmpl_1', 'templates get tmpl_1'],
    // Existing commands keep their meaning.
    ['profiles show', 'profiles show'],
    ['events show x', 'events show x'],
    ['envelopes list', 'envelopes list'],
    ['documents ls', 'documents ls'],
    ['--json', '--json --help'],
    ['envelopes --json', 'envelopes --json --help'],
    ['--json index', '--json index --help'],
    ['listen --json', 'listen --json'],
    ['envelopes --json --all', 'envelopes --json --all'],
    ['envelope list', 'envelopes list'],
    ['profile show', 'profiles show'],
    ['template show tmpl_1', 'templates get tmpl_1'],
    ['listen -v', 'listen -v'],
    ['', ''],
  ])('maps %s to %s', (line, wanted) => {
    expect(ours(line)).toBe(wanted);
  });
});

describe('a command that does not exist', () => {
  it.each<[string, string | undefined]>([
    ['list', 'envelopes list'],
    ['env list', 'envelopes list'],
    ['template lst', 'templates list'],
    ['envelopes find', 'find TEXT'],
    ['login', 'profiles add NAME --base-url URL'],
    ['whoami', 'profiles show'],
    ['status', 'report'],
    ['completion bash', 'autocomplete'],
    ['envelopes get x y', 'envelopes get'],
    ['envelopes sned', 'envelopes send'],
    ['envelopes creat', 'envelopes create'],
    ['profiles remov', 'profiles remove'],
    ['qwertz', undefined],
    ['envelopes edit', 'envelopes replace ID'],
    ['envelopes update', 'envelopes replace ID'],
    ['envelopes fix', 'envelopes replace ID'],
    ['envelopes void', 'envelopes cancel ID'],
    ['envelopes delete', 'envelopes cancel ID'],
    ['envelopes resend', 'envelopes remind ID'],
    ['envelopes new', 'envelopes create'],
    ['enelopes creat', 'envelopes create'],
    ['update', 'envelopes replace ID'],
    ['void', 'envelopes cancel ID'],
    ['summary', 'report'],
    ['remind', 'envelopes remind ID'],
    ['resend', 'envelopes remind ID'],
    ['send', 'envelopes create --send'],
    ['sign', 'sandbox sign ID'],
    ['webhooks', 'listen'],
    ['webhook listen', 'listen'],
    ['logout', 'profiles remove NAME'],
    ['auth login', 'profiles add NAME --base-url URL'],
    ['bulk send x.csv', 'bulk create FILE --send'],
    ['bulk import', 'bulk create FILE'],
    ['bulk retry', 'bulk resume RUN'],
    ['sandbox stop', undefined],
    ['sandbox status', 'doctor'],
    ['envelopes frobnicate', undefined],
  ])('gets a suggestion for %s: %s', (words, meant) => {
    expect(suggestCommand(words, names)).toBe(meant);
  });

  it('never maps a word for reading to a command that emails or deletes', () => {
    const reading =
      'find show see seen view read look open get ls list search status info log check stat cat describe';
    for (const word of reading.split(' '))
      for (const topic of ['envelopes', 'envelope', 'env', 'bulk', 'profiles', 'sandbox', '']) {
        const meant = suggestCommand(`${topic} ${word}`.trim(), names);
        const effect = COMMAND_EFFECTS[(meant ?? '').split(' ').slice(0, 2).join(':')];
        expect([word, topic, meant, effect], 'mails').not.toContain('mails');
        expect([word, topic, meant, effect], 'deletes').not.toContain('deletes');
      }
  });
});
