import { COMMAND_EFFECTS } from '../../kernel/vocabulary.ts';
import { EXIT, EXIT_MEANINGS } from '../exit-codes.ts';

/** Every command may end so. */
const ANY = [EXIT.ok, EXIT.unexpected, EXIT.usage, EXIT.interrupted, 143];
/** Whatever asks the service, or the sandbox. */
const ASKING = [EXIT.auth, EXIT.notFound, EXIT.invalidState, EXIT.validation, EXIT.limited, EXIT.unreachable];

/** They work on this machine's files alone. */
const OFFLINE = new Set([
  ...['autocomplete', 'compat', 'schema'],
  ...['bulk:export', 'bulk:list', 'bulk:show'],
  ...['documents:verify', 'events:list', 'events:secret', 'events:show', 'events:verify'],
  ...['profiles:list', 'profiles:remove', 'profiles:show', 'profiles:use', 'sandbox:exec'],
]);

/** The codes that only some commands have. */
const OWN: Readonly<Record<number, readonly string[]>> = {
  [EXIT.storage]: [
    ...['documents:download', 'documents:head', 'documents:link', 'documents:verify', 'doctor', 'demo'],
    ...['envelopes:download', 'envelopes:evidence', 'events:verify', 'listen'],
  ],
  [EXIT.partial]: [
    ...['envelopes:get', 'envelopes:send', 'envelopes:cancel', 'envelopes:remind', 'envelopes:download'],
    ...['envelopes:watch', 'documents:download', 'documents:head', 'documents:link'],
    ...['bulk:create', 'bulk:resume', 'compat', 'events:drill', 'events:gaps', 'events:replay', 'listen'],
  ],
  [EXIT.endedOtherwise]: ['envelopes:watch', 'listen'],
  [EXIT.waitTimeout]: ['envelopes:watch', 'listen', 'sandbox:mails'],
};

/** The exit codes that a command may end with, and what each means. */
export function exitsOf(id: string): Record<string, string> {
  const own = Object.entries(OWN).flatMap(([code, ids]) => (ids.includes(id) ? [Number(code)] : []));
  // Where stdout is closed early (boot/output.ts); a listener then ends with 1.
  const cut = ['writes', 'mails', 'deletes'].includes(COMMAND_EFFECTS[id] ?? '') ? [EXIT.partial] : [];
  const codes = new Set([...ANY, ...(OFFLINE.has(id) ? [] : ASKING), ...own, ...cut]);
  const meanings = Object.fromEntries([...codes].map((code) => [code, EXIT_MEANINGS[code] ?? '']));
  return id === 'sandbox:exec'
    ? { ...meanings, '*': 'any other code: the exit code of the command' }
    : meanings;
}
