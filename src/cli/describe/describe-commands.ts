import { COMMAND_EFFECTS, SAVING_COMMANDS } from '../../kernel/command-effects.ts';
import { ownValue } from '../../kernel/json.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import { jsonText } from '../../output/json.ts';
import { processTerminal } from '../../output/terminal.ts';
import { type Installation, versionOf } from '../boot/installation.ts';
import { unknownCommand } from '../boot/oclif-errors.ts';
import {
  type CommandFacts,
  type CommandTree,
  type FlagFacts,
  readCommandTree,
} from '../completion/command-tree.ts';
import { EXIT, EXIT_MEANINGS } from '../exit-codes.ts';
import { ENVIRONMENT, type HELP_TOPICS, SHARED_GROUPS } from '../help-topics.ts';
import { outputSchemaOf } from './flag-schema.ts';

/** Prints the result of `help --json` and `--help --json` as one line. */
export async function printDescription(argv: readonly string[], installed: Installation): Promise<void> {
  const words = argv.filter((word) => !word.startsWith('-'));
  const facts = describe(words, { root: installed.root, version: versionOf(installed) });
  await processTerminal({}).out(`${jsonText(facts)}\n`);
}

interface About {
  /** The folder of the package. */
  root: string;
  version: string;
}

/**
 * Returns what `help --json` prints: names and effects for the program or a topic, all details for a command.
 * @throws UsageError if the words are neither a topic nor a command.
 */
function describe(words: readonly string[], { root, version }: About): Record<string, unknown> {
  const tree = readCommandTree(root);
  const [topic] = words;
  if (topic === undefined) return { name: 'esign', version, commands: effectsIn(tree), more: MORE };
  const page = words.length === 1 ? ownValue(HELP_PAGES, topic) : undefined;
  if (page !== undefined) return { name: topic, ...page(tree) };
  for (const id of [words.slice(0, 2).join(':'), topic]) {
    const command = tree.commands[id];
    if (command !== undefined) return describeCommand(id, command, root);
  }
  const about = tree.topics[topic];
  if (about === undefined || words.length > 1)
    throw unknownCommand(words, new Map(Object.entries(tree.commands).map(([id, one]) => [nameOf(id), one])));
  return { name: topic, description: about, commands: effectsIn(tree, `${topic}:`) };
}

/** The pages of `esign help TOPIC`, as data. */
const HELP_PAGES: Readonly<Record<keyof typeof HELP_TOPICS, (tree: CommandTree) => Record<string, unknown>>> =
  {
    flags: (tree) => ({ flags: sharedFlags(tree, SHARED_GROUPS) }),
    filters: (tree) => ({ flags: sharedFlags(tree, ['FILTER']) }),
    environment: () => ({ variables: Object.fromEntries(ENVIRONMENT) }),
    'exit-codes': () => ({ exitCodes: EXIT_MEANINGS }),
  };

/** Returns the flags that many commands share. `find` has all of them. */
function sharedFlags({ commands }: CommandTree, groups: readonly string[]): Record<string, unknown> {
  const flags = Object.values(commands.find?.flags ?? {}).filter(({ helpGroup = '' }) =>
    groups.includes(helpGroup),
  );
  return Object.fromEntries(flags.map((flag) => [flag.name, flagFacts(flag)]));
}

const MORE = 'esign COMMAND --help --json';

function effectsIn({ commands }: CommandTree, prefix = ''): Record<string, string | undefined> {
  const ids = Object.keys(commands).filter((id) => id.startsWith(prefix) && commands[id]?.hidden !== true);
  return Object.fromEntries(ids.sort().map((id) => [nameOf(id), COMMAND_EFFECTS[id]]));
}

function nameOf(id: string): string {
  return id.replaceAll(':', ' ');
}

function describeCommand(id: string, command: CommandFacts, root: string): Record<string, unknown> {
  const flags = Object.values(command.flags).filter(({ hidden }) => hidden !== true);
  return {
    name: nameOf(id),
    effects: COMMAND_EFFECTS[id],
    summary: command.summary,
    description: command.description,
    arguments: Object.values(command.args)
      .filter(({ hidden }) => hidden !== true)
      .map(({ name, description, required, options }) =>
        withoutUnset({ name, description, required, options, repeatable: command.strict === false }),
      ),
    flags: Object.fromEntries(flags.map((flag) => [flag.name, flagFacts(flag)])),
    exclusions: exclusionsOf(flags),
    exitCodes: exitCodesOf(id),
    outputSchema: outputSchemaOf(root, id),
  };
}

function flagFacts(flag: FlagFacts): Record<string, unknown> {
  const { char, type, helpValue, description, required, multiple, allowNo, options, dependsOn } = flag;
  return withoutUnset({
    short: char,
    value: type === 'option' ? (helpValue ?? 'VALUE') : undefined,
    oneOf: options,
    description,
    required,
    repeatable: multiple,
    orNo: allowNo,
    onlyWith: dependsOn,
  });
}

function withoutUnset(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== undefined && value !== false),
  );
}

function exclusionsOf(flags: readonly FlagFacts[]): string[][] {
  const names = new Set(flags.map(({ name }) => name));
  const pairs = flags.flatMap(({ name, exclusive = [] }) =>
    exclusive.filter((other) => names.has(other)).map((other) => [name, other].sort()),
  );
  return [...new Map(pairs.map((pair) => [pair.join(' '), pair])).values()];
}

const COMMON_CODES = [EXIT.ok, EXIT.unexpected, EXIT.usage, EXIT.interrupted, EXIT.terminated];
/** Exit codes of commands that call the service or the sandbox. */
const SERVICE_CODES = [
  EXIT.auth,
  EXIT.notFound,
  EXIT.invalidState,
  EXIT.validation,
  EXIT.limited,
  EXIT.unreachable,
];

const OFFLINE = wordList(`autocomplete log bulk:list documents:verify
  events:list events:show profiles:list profiles:remove profiles:show profiles:use
  sandbox:exec`);

const COMMANDS_BY_CODE: Readonly<Record<number, readonly string[]>> = {
  [EXIT.storage]: wordList(`documents:download documents:link documents:verify doctor demo
    envelopes:download envelopes:evidence listen`),
  [EXIT.partial]: wordList(`envelopes:get envelopes:send envelopes:cancel envelopes:remind envelopes:download
    envelopes:watch documents:download documents:link bulk:create bulk:export
    bulk:resume events:drill events:replay listen report`),
  [EXIT.unexpectedStatus]: ['envelopes:watch'],
  [EXIT.waitTimeout]: ['envelopes:watch', 'sandbox:mails'],
};

/** The exit codes that mean something else in one command. */
const OWN_MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  report: { [EXIT.partial]: 'with --exit-code: something needs attention' },
  'sandbox:exec': { '*': "any other code: the command's exit code" },
};

/** Returns the exit codes of a command, with their meanings. */
export function exitCodesOf(id: string): Record<string, string> {
  const own = Object.entries(COMMANDS_BY_CODE).flatMap(([code, ids]) =>
    ids.includes(id) ? [Number(code)] : [],
  );
  // A command that writes or saves files exits with it if stdout is closed early (boot/standard-output.ts). `listen` exits with 1 in that case.
  const isCut =
    ['writes', 'mails', 'deletes'].includes(COMMAND_EFFECTS[id] ?? '') || SAVING_COMMANDS.includes(id);
  const cut = isCut ? [EXIT.partial] : [];
  const codes = new Set([...COMMON_CODES, ...(OFFLINE.includes(id) ? [] : SERVICE_CODES), ...own, ...cut]);
  const meanings = Object.fromEntries([...codes].map((code) => [code, EXIT_MEANINGS[code] ?? '']));
  return { ...meanings, ...OWN_MEANINGS[id] };
}
