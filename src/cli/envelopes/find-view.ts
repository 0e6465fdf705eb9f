import type { Envelope, Signer } from '../../api/schemas.ts';
import { replacedBy } from '../../envelopes/replace/find.ts';
import { type Selection, soughtPart } from '../../envelopes/select.ts';
import { entryOf } from '../../kernel/json.ts';
import { isInFlight } from '../../kernel/vocabulary.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine, truncate, widthOf } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import { inOrder, nameOf } from './list-view.ts';
import { standing } from './view.ts';

/** What a hit is about, and where it stands in a sentence: two lines each, so that a caller's envelopes are told at a look. */
export function renderHits(
  envelopes: readonly Envelope[],
  /** `successors`: by the id of the envelope in whose place each was made. */
  { selection, successors }: { selection: Selection; successors: ReadonlyMap<string, Envelope> },
  terminal: Terminal,
  now: number,
): string {
  const sought = soughtPart(selection);
  const isSought = (signer: Signer) => sought(signer) !== undefined;
  const told = (one: Envelope) => withReplacing(sentenceOf(one, isSought, now), one, successors.get(one.id));
  return envelopes.map((one) => hit(one, told(one), terminal)).join('');
}

/** Which it stands in the place of, and which in its. */
function withReplacing(sentence: string, envelope: Envelope, successor: Envelope | undefined): string {
  const old = replacedBy(envelope);
  const parts = [
    ...(old === undefined ? [] : [`; in place of ${old}`]),
    ...(successor === undefined
      ? []
      : [`; ${successor.status === 'DRAFT' ? 'a draft is in its place:' : 'replaced by'} ${successor.id}`]),
  ];
  return sentence.replace(/(\.?)$/, (end) => `${parts.join('')}${end}`);
}

function hit(envelope: Envelope, sentence: string, terminal: Terminal): string {
  const id = safeLine(envelope.id);
  const room = Math.max(10, terminal.columns - widthOf(id) - 2);
  const subject = truncate(safeLine(envelope.subject || envelope.templateName || '(no subject)'), room);
  const blanks = ' '.repeat(Math.max(2, terminal.columns - widthOf(subject) - widthOf(id)));
  const head = `${terminal.style('bold', subject)}${blanks}${terminal.style('dim', id)}`;
  return `${head}\n  ${indented(safeLine(sentence), 2, terminal)}\n`;
}

/** Who is waited for, whether they opened it, since when and until when; of an ended one, how it ended. */
function sentenceOf(envelope: Envelope, isSought: (one: Signer) => boolean, now: number): string {
  const { sentAt, expiresAt, status } = envelope;
  const signers = inOrder(envelope);
  const sought = signers.filter(isSought);
  if (!isInFlight(status)) {
    const people = (sought.length > 0 ? sought : signers.slice(0, 1)).map(nameOf);
    const told = standing(envelope, now) || `${status ?? 'Unknown'}.`;
    return people.length > 0 && !people.some((name) => told.includes(name))
      ? `${told.replace(/\.$/, '')}; for ${people.join(', ')}.`
      : told;
  }
  const signed = sought.filter((one) => one.status === 'SIGNED').map(nameOf);
  const open = signers.filter((one) => one.status !== 'SIGNED');
  const whom = waitedFor([...open.filter(isSought), ...open.filter((one) => !isSought(one))]);
  return [
    signed.length > 0 ? `${signed.join(', ')} signed; waits` : 'Waits',
    whom === '' ? '' : ` for ${whom}`,
    sentAt ? `, sent ${relativeTime(sentAt, now)}` : '',
    expiresAt ? `, ends ${relativeTime(expiresAt, now)}` : '',
  ].join('');
}

/** What of a signer's status says that they looked at it; words of the service for more than we know stay as they are. */
const OPENED: Readonly<Record<string, string>> = {
  VIEWED: 'opened',
  DELIVERED: 'opened',
  SENT: 'not opened',
  PENDING: 'not asked yet',
  AWAITING_TURN: 'not asked yet',
};

/** `Ada (opened) and Bo (not opened)`, `Ada and Bo (not opened)`, `Ada (not opened) and 2 more`. */
function waitedFor(signers: readonly Signer[]): string {
  const most = signers.length > 2 ? 1 : 2;
  const told = signers.slice(0, most).map((one) => ({ name: nameOf(one), state: stateOf(one) }));
  const isSame = told.every(({ state }) => state === told[0]?.state);
  const texts = told.map(({ name, state }, index) =>
    state === '' || (isSame && index < told.length - 1) ? name : `${name} (${state})`,
  );
  const more = signers.length > most ? ` and ${signers.length - most} more` : '';
  return `${texts.join(' and ')}${more}`;
}

function stateOf({ status }: Signer): string {
  return entryOf(OPENED, status ?? '') ?? status?.toLowerCase() ?? '';
}
