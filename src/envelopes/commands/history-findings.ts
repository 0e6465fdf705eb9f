import type { Client } from '../../api/client.ts';
import type {
  AccountHistory,
  AskedRow,
  HistoryFindings,
  MovedSigner,
  PeopleSince,
} from '../../catalog/account-history.ts';
import { readIfExists } from '../../catalog/envelope-list.ts';
import { type IndexedAccount, storedEnvelopes } from '../../catalog/index/search-index.ts';
import type { Context } from '../../cli/session/context.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { isDiskError } from '../../kernel/files/disk-reason.ts';
import { domainOf } from '../../kernel/text/email-address.ts';
import { suggestDomain } from '../../kernel/text/mistyped-provider.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { relativeTime } from '../../output/time.ts';

export interface LabeledNotice {
  label: string;
  text: string;
  /** The command that avoids it, and what it does. */
  next?: { why: string; command: string } | undefined;
}

/** How many lines are named of each kind. */
const MAX_NAMED = 3;

/**
 * Completes a history from the local index, and returns what it shows about rows. Without an index, it shows what was added to the
 * history before. `readAgain`: how many open envelopes of the index are requested, because they may have been signed since.
 */
export async function findingsInHistory(
  history: AccountHistory,
  rows: readonly AskedRow[],
  client: Client,
  { session, terminal, interrupt }: Context,
  { readAgain = 0 }: { readAgain?: number } = {},
): Promise<HistoryFindings> {
  const account = await session.indexedAccount(client);
  if (account !== undefined) {
    try {
      await terminal.waiting('Looking for who has signed already', () =>
        addStored(history, account, readAgain, interrupt.signal),
      );
    } catch (error) {
      if (!isDiskError(error)) throw error;
    }
  }
  const findings = history.findings(rows);
  // The check of addresses has named those.
  const domains = findings.domains.filter(({ email }) => suggestDomain(email) === undefined);
  return { ...findings, domains };
}

/** Adds the envelopes of the index, and requests up to `readAgain` of those in which the people seem to be waited for. */
async function addStored(
  history: AccountHistory,
  account: IndexedAccount,
  readAgain: number,
  signal: AbortSignal,
): Promise<void> {
  let left = readAgain;
  for await (const stored of storedEnvelopes(account)) {
    const isRead = left > 0 && history.isToReadAgain(stored);
    if (isRead) left -= 1;
    const envelope = isRead ? await readIfExists(account.client, stored.id, signal) : stored;
    if (envelope) history.add(envelope);
  }
}

/** Returns the findings as they are printed, with the command for each row of someone who moved. */
export function findingsAsJson({ moved, ...findings }: HistoryFindings) {
  return { ...findings, moved: moved.map((one) => ({ ...one, next: replaceCommand(one) })) };
}

/**
 * Returns the findings as notices. `leaveOut`: the command that lists only those who have not signed. `isOneSigner`: whether only one
 * person is asked.
 */
export function noticesOf(
  { signed, open, moved, domains }: HistoryFindings,
  {
    templates,
    leaveOut,
    isOneSigner,
    now,
  }: { templates: readonly string[]; leaveOut?: string | undefined; isOneSigner?: boolean; now: number },
): LabeledNotice[] {
  const [only, ...others] = templates;
  const what = only !== undefined && others.length === 0 ? only : 'their template';
  const leavingOut =
    leaveOut === undefined ? undefined : { why: 'To leave out who has signed', command: leaveOut };
  return [
    ...noticeOfPeople('Signed', signed, {
      textOf: (who) => `${isOneSigner ? 'The signer has' : who} signed ${what}`,
      event: '',
      now,
      next: leavingOut,
    }),
    ...noticeOfPeople('Open', open, {
      textOf: (who) => `${isOneSigner ? 'The signer has' : who} ${what} open`,
      event: 'sent ',
      now,
    }),
    ...firstOf(moved, 'Moved', (one) => ({
      text: `${placeOf(one.line)}${one.name} has it open at ${one.otherEmail}`,
      next: {
        why: 'To change the address instead of sending a second envelope',
        command: replaceCommand(one),
      },
    })),
    ...firstOf(domains, 'Unusual', ({ line, email, similar }) => ({
      text: `${placeOf(line)}nobody at ${domainOf(email)} has signed before; did you mean ${similar}?`,
    })),
  ];
}

/** Returns the command that sends the open envelope to the new address. */
function replaceCommand({ envelopeId, otherEmail, email }: MovedSigner): string {
  return command('envelopes', 'replace', envelopeId, '--signer', `${otherEmail}=${email}`);
}

function noticeOfPeople(
  label: string,
  { people, since }: PeopleSince,
  {
    textOf,
    event,
    now,
    next,
  }: { textOf: (who: string) => string; event: string; now: number; next?: LabeledNotice['next'] },
): LabeledNotice[] {
  if (people === 0) return [];
  const who = people === 1 ? '1 of these people has' : `${grouped(people)} of these people have`;
  const first =
    since === null ? '' : `, ${people === 1 ? '' : 'the first '}${event}${relativeTime(since, now)}`;
  return [{ label, text: `${textOf(who)}${first}`, next }];
}

function firstOf<T>(
  all: readonly T[],
  label: string,
  noticeOf: (one: T) => Omit<LabeledNotice, 'label'>,
): LabeledNotice[] {
  const shown = all.slice(0, MAX_NAMED).map((one): LabeledNotice => ({ label, ...noticeOf(one) }));
  const more = all.length - shown.length;
  return more > 0 ? [...shown, { label, text: `… and ${counted(more, 'more row')}` }] : shown;
}

function placeOf(line: number | null): string {
  return line === null ? '' : `line ${line}: `;
}
