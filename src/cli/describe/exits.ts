import { COMMAND_EFFECTS } from '../../kernel/vocabulary.ts';
import { EXIT, EXIT_MEANINGS } from '../exit-codes.ts';

/** Exit codes that any command may return. */
const COMMON_CODES = [EXIT.ok, EXIT.unexpected, EXIT.usage, EXIT.interrupted, 143];
/** Exit codes of commands that call the service or the sandbox. */
const ASKING = [EXIT.auth, EXIT.notFound, EXIT.invalidState, EXIT.validation, EXIT.limited, EXIT.unreachable];

/** Commands that use only local files. */
const OFFLINE = new Set([
  ...['autocomplete', 'compat', 'log', 'log:verify', 'schema'],
  ...['bulk:list', 'bulk:show'],
  ...['documents:verify', 'events:list', 'events:secret', 'events:show', 'events:verify'],
  ...['profiles:list', 'profiles:remove', 'profiles:show', 'profiles:use', 'sandbox:exec'],
]);

/** Exit codes of individual commands. */
const COMMANDS_BY_CODE: Readonly<Record<number, readonly string[]>> = {
  [EXIT.storage]: [
    ...['documents:download', 'documents:head', 'documents:link', 'documents:verify', 'doctor', 'demo'],
    ...['envelopes:download', 'envelopes:evidence', 'events:verify', 'listen', 'log:verify'],
  ],
  [EXIT.partial]: [
    ...['envelopes:get', 'envelopes:send', 'envelopes:cancel', 'envelopes:remind', 'envelopes:download'],
    ...['envelopes:watch', 'documents:download', 'documents:head', 'documents:link'],
    ...[
      'bulk:create',
      'bulk:export',
      'bulk:rehearse',
      'bulk:resume',
      'compat',
      'events:drill',
      'events:gaps',
      'events:replay',
      'listen',
    ],
    'log:undo',
  ],
  [EXIT.unexpectedStatus]: ['envelopes:watch', 'listen'],
  [EXIT.waitTimeout]: ['envelopes:watch', 'listen', 'sandbox:mails'],
};

/** Returns the exit codes of a command, with their meanings. */
export function exitsOf(id: string): Record<string, string> {
  const own = Object.entries(COMMANDS_BY_CODE).flatMap(([code, ids]) =>
    ids.includes(id) ? [Number(code)] : [],
  );
  // For when stdout is closed early (boot/standard-output.ts). `listen` exits with 1 in that case.
  const cut = ['writes', 'mails', 'deletes'].includes(COMMAND_EFFECTS[id] ?? '') ? [EXIT.partial] : [];
  const codes = new Set([...COMMON_CODES, ...(OFFLINE.has(id) ? [] : ASKING), ...own, ...cut]);
  const meanings = Object.fromEntries([...codes].map((code) => [code, EXIT_MEANINGS[code] ?? '']));
  return id === 'sandbox:exec'
    ? { ...meanings, '*': 'any other code: the exit code of the command' }
    : meanings;
}
