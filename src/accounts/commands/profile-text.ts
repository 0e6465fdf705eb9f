import type { CommandTerminal } from '../../cli/terminal.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { writeJson } from '../../output/json.ts';
import { renderPairs } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine } from '../../output/text.ts';
import { combineGuards, guardsInWords, policyInWords } from '../../settings/guards/guards.ts';
import { type NamedProfile, publicProfile, type publicSettings } from './profile-json.ts';

/** A profile that was just stored. */
export interface SavedProfile extends NamedProfile {
  /** The name of the profile that commands use by default. */
  currentName: string | undefined;
}

/** Writes a profile as the result of a command, as JSON or the given text. */
export function writeProfile(
  shown: NamedProfile,
  terminal: CommandTerminal,
  words: () => string,
): Promise<void> {
  return terminal.json ? writeJson(publicProfile(shown), terminal) : terminal.out(words());
}

export function renderProfile(shown: NamedProfile, terminal: Terminal): string {
  const title = `${terminal.style('bold', safeLine(shown.name))}${shown.current ? ' (current)' : ''}\n`;
  return `${title}${renderProfileSettings(shown, terminal)}`;
}

function renderProfileSettings(shown: NamedProfile, terminal: Terminal): string {
  const one = publicProfile(shown);
  const pairs: [string, string | null][] = [
    ['Base URL', one.baseUrl],
    ['API key', one.apiKey ?? `from the command: ${one.apiKeyCommand ?? 'none'}`],
    ['Bucket', one.storage?.bucket ?? null],
    ['Endpoint', one.storage?.endpoint ?? null],
    ['Region', one.storage?.region ?? null],
    ['AWS profile', one.storage?.awsProfile ?? null],
    ['Access key', one.storage?.accessKeyId ?? null],
    ['Seal pin', one.pin],
    ['Sealed part', one.sealedPart ? SEALED_PART : null],
    ['Search index', one.index ? null : 'none'],
    ...guardsInWords(combineGuards(shown.profile.guards, { state: 'none' })).map(
      ([label, { text }]): [string, string] => [label, text],
    ),
  ];
  return renderPairs(withoutMissing(pairs), terminal, '  ');
}

/** Renders a profile that was just stored for people: its settings, and which profile is current. */
export function renderSaved(done: 'Added' | 'Changed', shown: SavedProfile, terminal: Terminal): string {
  const { name, current, currentName } = shown;
  const which = current
    ? ''
    : currentName === undefined
      ? `No profile is current. Switch to it with ${command('profiles', 'use', name)}\n`
      : `The current profile is still ${safeLine(currentName)}. Switch with ${command('profiles', 'use', name)}\n`;
  const head = `${terminal.style('green', '✓')} ${done} ${terminal.style('bold', safeLine(name))}${current ? ', the current profile' : ''}\n`;
  return `${head}${renderProfileSettings(shown, terminal)}${which}`;
}

/** Renders what to do with a new profile. */
export function renderFirstSteps({ name, current, profile }: SavedProfile, terminal: Terminal): string {
  const flags = current ? [] : ['--profile', name];
  const steps: [string, string][] = [
    ['See what you can send', command('templates', 'list', ...flags)],
    ['Check everything', command('doctor', ...flags)],
    ...(profile.storage?.bucket
      ? []
      : [
          ['To download PDFs', `${command('profiles', 'edit', name, '--bucket')} BUCKET`] satisfies [
            string,
            string,
          ],
        ]),
  ];
  return `\n${renderPairs(steps, terminal, '  ')}`;
}

const SEALED_PART = 'saved next to extended documents';
export function renderSettings(settings: ReturnType<typeof publicSettings>, terminal: Terminal): string {
  const sourced = (one: { value: unknown; source: string } | null) =>
    one === null ? 'none' : `${String(one.value)}  (${one.source})`;
  const { storage } = settings;
  const stored = (value: string | null | undefined) =>
    value && storage ? sourced({ value, source: storage.source }) : null;
  const pairs: [string, string | null][] = [
    ['Profile', settings.profile === null ? 'none' : sourced(settings.profile)],
    ['Base URL', sourced(settings.baseUrl)],
    ['API key', sourced(settings.apiKey)],
    ['Timeout', `${settings.timeoutMs.value / 1_000} s  (${settings.timeoutMs.source})`],
    ['Bucket', stored(storage?.bucket) ?? 'none'],
    ['Endpoint', stored(storage?.endpoint)],
    ['Region', stored(storage?.region)],
    ['AWS profile', stored(storage?.awsProfile)],
    ['Access key', stored(storage?.accessKeyId)],
    ['Seal pin', settings.pin && sourced(settings.pin)],
    ['Sealed part', settings.sealedPart && `${SEALED_PART}  (profile)`],
    ['Search index', settings.index && 'none  (profile)'],
    ...guardsInWords(settings.guards).map(([label, { text, source }]): [string, string] => [
      label,
      `${text}  (${source})`,
    ]),
    ['Policy', settings.guards.policy === null ? null : policyInWords(settings.guards.policy)],
    ['Stored in', settings.file],
  ];
  return renderPairs(withoutMissing(pairs), terminal);
}

function withoutMissing(pairs: [string, string | null][]): [string, string][] {
  return pairs.flatMap(([label, text]): [string, string][] =>
    text === null ? [] : [[label, safeLine(text)]],
  );
}
