import type { Client } from '../../api/client.ts';
import { suggestDomain } from '../../envelopes/completeness.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { isDiskError } from '../../kernel/files/disk-reason.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { relativeTime } from '../../output/time.ts';
import type { Context } from '../../session/context.ts';
import type {
  AccountHistory,
  AskedRow,
  HistoryFindings,
  MovedSigner,
  PeopleSince,
} from '../account-history.ts';
import { storedInIndex } from '../index/query.ts';

type Pairs = [label: string, text: string][];

/** How many lines are named of each kind. */
const MAX_NAMED = 3;

/**
 * Completes a history from the local index, without a request, and returns what it shows about rows. Without an index, it shows what was
 * added to the history before.
 */
export async function lookTwice(
  history: AccountHistory,
  rows: readonly AskedRow[],
  client: Client,
  { session, terminal }: Context,
): Promise<HistoryFindings> {
  const account = await session.indexedAccount(client);
  if (account !== undefined) {
    try {
      await terminal.waiting('Looking for who has signed already', async () => {
        for await (const envelope of storedInIndex(account)) history.add(envelope);
      });
    } catch (error) {
      if (!isDiskError(error)) throw error;
    }
  }
  const findings = history.findings(rows);
  // The check of addresses has named those.
  const domains = findings.domains.filter(({ email }) => suggestDomain(email) === undefined);
  return { ...findings, domains };
}

/** Returns the findings as they are printed, with the command for each row of someone who moved. */
export function findingsAsJson({ moved, ...findings }: HistoryFindings) {
  return { ...findings, moved: moved.map((one) => ({ ...one, next: replaceCommand(one) })) };
}

/** Returns the findings as notices, each with a label. `leaveOut`: the command that lists only those who have not signed. */
export function findingsInWords(
  { signed, open, moved, domains }: HistoryFindings,
  { templates, leaveOut, now }: { templates: readonly string[]; leaveOut?: string | undefined; now: number },
): Pairs {
  const [only, ...others] = templates;
  const what = only !== undefined && others.length === 0 ? only : 'their template';
  return [
    ...peoplePair('Signed', signed, (people) => `${people} signed ${what}`, now),
    ...(signed.people > 0 && leaveOut !== undefined
      ? ([['', `leave them out: ${leaveOut}`]] satisfies Pairs)
      : []),
    ...peoplePair('Open', open, (people) => `${people} ${what} open`, now),
    ...labeled(
      'Moved',
      moved,
      (one) =>
        `${placeOf(one.line)}${one.name} has it open at ${one.otherEmail}; instead of a second one: ${replaceCommand(one)}`,
    ),
    ...labeled('Unusual', domains, ({ line, email, similar }) => {
      const domain = email.slice(email.lastIndexOf('@') + 1);
      return `${placeOf(line)}nobody at ${domain} has signed before; did you mean ${similar}?`;
    }),
  ];
}

/** Returns the command that sends the open envelope to the new address. */
function replaceCommand({ envelopeId, otherEmail, email }: MovedSigner): string {
  return command('envelopes', 'replace', envelopeId, '--signer', `${otherEmail}=${email}`);
}

function peoplePair(
  label: string,
  { people, since }: PeopleSince,
  textOf: (people: string) => string,
  now: number,
): Pairs {
  if (people === 0) return [];
  const who = people === 1 ? '1 of these people has' : `${grouped(people)} of these people have`;
  const first = since === null ? '' : `, ${people === 1 ? '' : 'the first '}${relativeTime(since, now)}`;
  return [[label, `${textOf(who)}${first}`]];
}

function labeled<T>(label: string, all: readonly T[], textOf: (one: T) => string): Pairs {
  const pairs = all.slice(0, MAX_NAMED).map((one): Pairs[number] => [label, textOf(one)]);
  const more = all.length - pairs.length;
  return more > 0 ? [...pairs, [label, `… and ${counted(more, 'more row')}`]] : pairs;
}

function placeOf(line: number | null): string {
  return line === null ? '' : `line ${line}: `;
}
