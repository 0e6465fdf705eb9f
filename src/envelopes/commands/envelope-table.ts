import type { Envelope, Signer } from '../../api/resource-types.ts';
import { type MatchedSigner, matchedSigners, type Selection } from '../../catalog/selection.ts';
import { signersByOrder } from '../../catalog/turns.ts';
import { ENVELOPE_STATUSES, hasDeclined, hasSigned, isTerminal } from '../../kernel/statuses.ts';
import { nameOf } from '../../kernel/text/person.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { ListView } from '../../output/print-list.ts';
import { statusColor } from '../../output/status-marks.ts';
import type { TableColumn } from '../../output/table.ts';
import { relativeTime } from '../../output/time.ts';
import { type SelectionFlagValues, selectionFlags } from '../../selection/selection-flags.ts';

/** The list of envelopes: stable columns for pipes; on a terminal, the columns that differ. `flags`: those that selected them. */
export function envelopeList(
  now: () => number,
  { selection = {}, flags = {} }: { selection?: Selection; flags?: SelectionFlagValues } = {},
): ListView<Envelope> {
  const id: TableColumn<Envelope> = { key: 'id', fixed: true };
  const status: TableColumn<Envelope> = {
    key: 'status',
    color: (one) => statusColor(one.status),
    fixed: true,
  };
  const template: TableColumn<Envelope> = {
    key: 'templateName',
    header: 'TEMPLATE',
    value: (one) => one.templateName ?? one.templateId ?? '',
  };
  const signers: TableColumn<Envelope> = {
    key: 'signers',
    value: (one) => (one.signers ?? []).map(({ email }) => email ?? '').join(','),
  };
  const created: TableColumn<Envelope> = {
    key: 'createdAt',
    header: 'CREATED',
    show: (one) => relativeTime(one.createdAt, now()),
    fixed: true,
  };
  const expires: TableColumn<Envelope> = {
    key: 'expiresAt',
    header: 'EXPIRES',
    show: (one) => (isTerminal(one.status ?? '') ? '' : relativeTime(one.expiresAt, now())),
    fixed: true,
  };
  const subject: TableColumn<Envelope> = {
    key: 'subject',
    show: (one) => one.subject || one.templateName || '',
    least: 11,
    cutsCommonStart: true,
  };
  const matchedIn = matchedSigners(selection);
  const waiting: TableColumn<Envelope> = {
    key: 'waitingFor',
    header: 'SIGNER',
    value: (one) => waitingFor(one, matchedIn(one)),
    least: 10,
  };
  const changed: TableColumn<Envelope> = {
    key: 'changedAt',
    header: 'CHANGED',
    value: (one) => changeTimeOf(one) ?? '',
    // Shorter than `3 days ago`, so that more of the subject is visible.
    show: (one) => relativeTime(changeTimeOf(one), now()).replace(/ ago$/, ''),
    fixed: true,
  };
  return {
    id: (one) => one.id,
    empty: noMatchesText(flags),
    columns: [id, status, template, signers, created, expires],
    shown: [id, status, subject, waiting, changed, { ...expires, extra: true }, { ...template, extra: true }],
  };
}

/**
 * Returns who has yet to sign, starting with the next one. For an ended envelope: who it was for. A matched signer comes first.
 */
function waitingFor(envelope: Envelope, matched: readonly MatchedSigner[]): string {
  const people = signersInOrder(envelope);
  const isOver = isTerminal(envelope.status ?? '');
  const decliner = envelope.status === 'DECLINED' ? people.find(hasDeclined) : undefined;
  if (decliner) return nameOf(decliner);
  const isLeft = isOver ? () => true : (one: Signer) => !hasSigned(one);
  const [found] = matched;
  const others = people.filter((one) => one !== found?.signer && isLeft(one)).map(nameOf);
  const names = found ? [`${found.part}${isLeft(found.signer) ? '' : ' ✓'}`] : others.splice(0, 1);
  // After a matched signer who has signed, show who is next.
  if (found && !isLeft(found.signer)) names.push(...others.splice(0, 1));
  return `${names.join(', ')}${others.length > 0 ? ` +${others.length}` : ''}`;
}

/** Returns when the status last changed, or the last signature; for a draft, when it was created. */
function changeTimeOf(envelope: Envelope): string | undefined {
  const times = [
    endTimeOf(envelope),
    envelope.sentAt,
    envelope.createdAt,
    ...(envelope.signers ?? []).map(({ signedAt }) => signedAt),
  ];
  return times
    .filter((time) => typeof time === 'string')
    .toSorted()
    .at(-1);
}

export function signersInOrder(envelope: Envelope): Signer[] {
  return signersByOrder(envelope).flat();
}

/** Returns when an envelope ended, if known. */
export function endTimeOf(envelope: Envelope): string | undefined {
  const { status, completedAt, expiresAt, signers } = envelope;
  if (status === 'COMPLETED') return completedAt ?? undefined;
  if (status === 'EXPIRED') return expiresAt ?? undefined;
  if (status === 'DECLINED') return signers?.find((one) => one.declinedAt)?.declinedAt ?? undefined;
  const { cancelledAt } = envelope;
  return status === 'CANCELLED' && typeof cancelledAt === 'string' ? cancelledAt : undefined;
}

/** Lists two names and the number of others. */
export function namesOf(names: readonly string[]): string {
  const rest = names.length > 2 ? ` and ${names.length - 2} more` : '';
  return `${names.slice(0, 2).join(rest === '' ? ' and ' : ', ')}${rest}`;
}

/** Returns the message for an empty list. `similar`: the command for a search that finds something. */
export function noMatchesText(
  flags: SelectionFlagValues & { search?: string | undefined },
  similar?: string,
): string {
  if (flags.search !== undefined) {
    const advice = similar === undefined ? adviceForSearch(flags.search) : `Did you mean \`${similar}\`?`;
    return `No envelopes match "${flags.search}" by ID, subject, signers, template, or metadata. ${advice}`;
  }
  const given = Object.entries(flags).flatMap(([name, value]) =>
    name in selectionFlags && value !== undefined ? [`--${name}`] : [],
  );
  if (given.length > 0) return `No envelopes match. To find more, leave out ${given.join(' or ')}.`;
  return 'No envelopes yet. Create one with `esign envelopes create --template ID --signer a@b.c`.';
}

function adviceForSearch(search: string): string {
  const word = search
    .trim()
    .toUpperCase()
    .replace(/^CANCELED$/, 'CANCELLED');
  const status = ENVELOPE_STATUSES.find((one) => one === word);
  return status === undefined
    ? 'To find more, try fewer words or their first letters.'
    : `To search by status, run \`${command('envelopes', 'list', '--status', status)}\`.`;
}
