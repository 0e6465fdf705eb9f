import { wordList } from './text/word-list.ts';

/**
 * The most serious effect that a command can have: it reads from the service or the bucket, writes to another system, emails
 * people, deletes, or affects only this machine.
 */
export const EFFECTS = ['reads', 'writes', 'mails', 'deletes', 'local'] as const;
export type Effect = (typeof EFFECTS)[number];

/** The IDs of the commands with each effect. */
const COMMANDS: Readonly<Record<Effect, readonly string[]>> = {
  reads: wordList(`bulk:export bulk:roster bulk:status bulk:template doctor
    documents:download documents:link envelopes:download envelopes:evidence envelopes:get
    envelopes:list envelopes:watch find late report
    templates:get templates:list`),
  writes: wordList('events:drill events:replay events:trigger listen'),
  mails: wordList(`api bulk:create bulk:resume envelopes:cancel envelopes:create envelopes:remind
    envelopes:replace envelopes:send mcp`),
  deletes: wordList('profiles:remove sandbox:reset'),
  local: wordList(`autocomplete bulk:list demo documents:verify
    events:list events:show log profiles:add
    profiles:edit profiles:list profiles:show profiles:use sandbox:advance sandbox:decline
    sandbox:exec sandbox:mails sandbox:seed sandbox:sign sandbox:start
    sandbox:view`),
};

/** Commands that read from the service or the bucket, and save files. */
export const SAVING_COMMANDS: readonly string[] = wordList(
  'documents:download envelopes:download envelopes:evidence',
);

/** The effect of each command, by id. */
export const COMMAND_EFFECTS: Readonly<Record<string, Effect>> = Object.fromEntries(
  EFFECTS.flatMap((effect) => COMMANDS[effect].map((id) => [id, effect])),
);
