import type { Envelope, Signer } from '../../api/schemas.ts';
import { type Selection, soughtPart } from '../../envelopes/select.ts';
import { isTerminal } from '../../kernel/vocabulary.ts';
import type { ListView } from '../../output/list.ts';
import { statusColour } from '../../output/status.ts';
import type { Column } from '../../output/table.ts';
import { relativeTime } from '../../output/time.ts';

/** The list of envelopes: stable columns for pipes; for people, what tells rows apart. */
export function envelopeList(now: () => number, selection: Selection = {}): ListView<Envelope> {
  const id: Column<Envelope> = { key: 'id', header: 'ID', value: (one) => one.id, fixed: true };
  const status: Column<Envelope> = {
    key: 'status',
    header: 'STATUS',
    value: (one) => one.status ?? '',
    colour: (one) => statusColour(one.status),
    fixed: true,
  };
  const template: Column<Envelope> = {
    key: 'templateName',
    header: 'TEMPLATE',
    value: (one) => one.templateName ?? one.templateId ?? '',
  };
  const signers: Column<Envelope> = {
    key: 'signers',
    header: 'SIGNERS',
    value: (one) => (one.signers ?? []).map(({ email }) => email ?? '').join(','),
  };
  const created: Column<Envelope> = {
    key: 'createdAt',
    header: 'CREATED',
    value: (one) => one.createdAt ?? '',
    show: (one) => relativeTime(one.createdAt, now()),
    fixed: true,
  };
  const expires: Column<Envelope> = {
    key: 'expiresAt',
    header: 'EXPIRES',
    value: (one) => one.expiresAt ?? '',
    show: (one) => (isTerminal(one.status ?? '') ? '' : relativeTime(one.expiresAt, now())),
    fixed: true,
  };
  const subject: Column<Envelope> = {
    key: 'subject',
    header: 'SUBJECT',
    value: (one) => one.subject ?? '',
    show: (one) => one.subject || one.templateName || '',
    least: 11,
  };
  const sought = soughtPart(selection);
  const waiting: Column<Envelope> = {
    key: 'waitingFor',
    header: 'WAITING FOR',
    value: (one) => waitingFor(one, sought, now()),
    least: 8,
  };
  return {
    id: (one) => one.id,
    empty: nothingFits(selection),
    columns: [id, status, template, signers, created, expires],
    shown: [id, status, subject, waiting, expires, { ...created, extra: true }, { ...template, extra: true }],
  };
}

/** Who has yet to sign, the next one first; of an ended envelope, when it ended and whose it was. Whoever was searched for comes first. */
function waitingFor(envelope: Envelope, sought: (one: Signer) => string | undefined, now: number): string {
  const people = inOrder(envelope);
  const found = people.find((one) => sought(one) !== undefined);
  const isOver = isTerminal(envelope.status ?? '');
  const isLeft = isOver ? () => true : (one: Signer) => one.status !== 'SIGNED';
  const others = people.filter((one) => one !== found && isLeft(one)).map(nameOf);
  const names = found ? [`${sought(found) ?? ''}${isLeft(found) ? '' : ' ✓'}`] : others.splice(0, 1);
  // Of who has signed already, it is still to be told who is next.
  if (found && !isLeft(found)) names.push(...others.splice(0, 1));
  const who = `${names.join(', ')}${others.length > 0 ? ` +${others.length}` : ''}`;
  return isOver ? overBy(envelope, who, now) : who;
}

function overBy(envelope: Envelope, who: string, now: number): string {
  const decliner = envelope.signers?.find((one) => one.status === 'DECLINED');
  const by = envelope.status === 'DECLINED' && decliner ? `by ${nameOf(decliner)}` : who;
  return [relativeTime(endOf(envelope), now), by].filter((part) => part !== '').join(', ');
}

/** The signers in the order in which they sign. */
export function inOrder({ signers, signingOrder }: Envelope): Signer[] {
  if (signingOrder !== 'SEQUENTIAL') return signers ?? [];
  return (signers ?? []).toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
}

/** When an ended envelope ended, where anything says so. */
export function endOf(envelope: Envelope): string | undefined {
  const { status, completedAt, expiresAt, signers } = envelope;
  if (status === 'COMPLETED') return completedAt ?? undefined;
  if (status === 'EXPIRED') return expiresAt ?? undefined;
  if (status === 'DECLINED') return signers?.find((one) => one.declinedAt)?.declinedAt ?? undefined;
  const { cancelledAt } = envelope;
  return status === 'CANCELLED' && typeof cancelledAt === 'string' ? cancelledAt : undefined;
}

/** How a signer is called. */
export function nameOf(signer: Signer): string {
  return signer.name || signer.email || 'a signer';
}

const FILTERS: readonly (readonly [keyof Selection, string])[] = [
  ['statuses', '--status'],
  ['templateId', '--template'],
  ['createdAfter', '--since'],
  ['createdBefore', '--older-than'],
  ['expiresBefore', '--expiring-in'],
];

/** What is said when there is nothing, and what to try. */
function nothingFits(selection: Selection): string {
  const { search, signer } = selection;
  const others = FILTERS.filter(([key]) => selection[key] !== undefined).map(([, flag]) => flag);
  const without = others.length > 0 ? `leave out ${others.join(', ')}` : undefined;
  if (search !== undefined) {
    const tries = ['try fewer words or their first letters', without].filter(Boolean).join(', or ');
    return `No envelope has words that begin with "${search}" in its id, subject, signers, template or metadata; ${tries}.`;
  }
  if (signer !== undefined) {
    const tries = ['try a part of the name or address', without].filter(Boolean).join(', or ');
    return `No envelope has a signer with "${signer}" in the name or address; ${tries}.`;
  }
  if (without !== undefined)
    return `No envelope fits; ${without}, or count all: \`esign envelopes summary\`.`;
  return 'No envelopes yet. Create one: `esign envelopes create --template ID --signer a@b.c`.';
}
