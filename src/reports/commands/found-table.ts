import type { Envelope, Signer } from '../../api/resource-types.ts';
import { replacedBy } from '../../catalog/markers.ts';
import { matchedSigners, type Selection } from '../../catalog/selection.ts';
import { namesOf, signersInOrder } from '../../envelopes/commands/envelope-table.ts';
import { statusText } from '../../envelopes/commands/envelope-text.ts';
import { ownValue } from '../../kernel/json.ts';
import { hasOpened, hasSigned, isInFlight } from '../../kernel/statuses.ts';
import { mailboxOf, nameOf } from '../../kernel/text/person.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine, truncate, widthOf } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';

/** Renders each envelope on two or three lines: its subject and ID, then who has signed, who it waits for, and since when. */
export function renderHits(
  envelopes: readonly Envelope[],
  /** `successors`: by the ID of the envelope that each one replaces. */
  { selection, successors }: { selection: Selection; successors: ReadonlyMap<string, Envelope> },
  terminal: Terminal,
  now: number,
): string[] {
  const matchedIn = matchedSigners(selection);
  const sentence = (one: Envelope) => {
    const matched = new Set(matchedIn(one).map(({ signer }) => signer));
    return withReplacements(sentenceOf(one, matched, now), one, successors.get(one.id));
  };
  return envelopes.map((one) => renderHit(one, sentence(one), terminal));
}

/** Adds the envelope that this one replaces, and the one that replaces it. */
function withReplacements(sentence: string, envelope: Envelope, successor: Envelope | undefined): string {
  const old = replacedBy(envelope);
  const parts = [
    ...(old === undefined ? [] : [`; replaces ${old}`]),
    ...(successor === undefined
      ? []
      : [
          `; ${successor.status === 'DRAFT' ? 'to be replaced by the draft' : 'replaced by'} ${successor.id}`,
        ]),
  ];
  return sentence.replace(/(\.?)$/, (end) => `${parts.join('')}${end}`);
}

function renderHit(envelope: Envelope, sentence: string, terminal: Terminal): string {
  const id = safeLine(envelope.id);
  const room = Math.max(10, terminal.columns - widthOf(id) - 2);
  const subject = truncate(safeLine(envelope.subject || envelope.templateName || '(no subject)'), room);
  const head = `${terminal.style('bold', subject)}  ${terminal.style('dim', id)}`;
  return `${head}\n  ${indented(safeLine(sentence), 2, terminal)}\n`;
}

/** Returns who has signed, who it waits for, and when it was sent and expires; for an ended envelope, how it ended. */
function sentenceOf(envelope: Envelope, matched: ReadonlySet<Signer>, now: number): string {
  const { sentAt, expiresAt, status } = envelope;
  const signers = signersInOrder(envelope);
  // Several people may have the same name, so the address is shown.
  const label = (one: Signer) => (matched.has(one) ? mailboxOf(one) : nameOf(one));
  const found = signers.filter((one) => matched.has(one));
  if (!isInFlight(status))
    return endedSentence(envelope, found.length > 0 ? found : signers.slice(0, 1), now);
  const signed = matchedFirst(signers.filter(hasSigned), matched);
  const open = matchedFirst(
    signers.filter((one) => !hasSigned(one)),
    matched,
  );
  const whom = pendingSigners(open, label);
  return [
    signed.length > 0 ? `${namesOf(signed.map(label))} signed; waiting` : 'Waiting',
    whom === '' ? '' : ` for ${whom}`,
    sentAt ? `, sent ${relativeTime(sentAt, now)}` : '',
    expiresAt ? `, expires ${relativeTime(expiresAt, now)}` : '',
  ].join('');
}

/** Returns how it ended, and for whom if that isn't clear. */
function endedSentence(envelope: Envelope, people: readonly Signer[], now: number): string {
  const ended = statusText(envelope, now) || `${envelope.status ?? 'Unknown'}.`;
  const mailboxes = people.map(mailboxOf).join(', ');
  const [only] = people;
  if (only !== undefined && people.length === 1 && ended.includes(nameOf(only)))
    return ended.replace(nameOf(only), () => mailboxOf(only));
  return people.length > 0 ? `${ended.replace(/\.$/, '')}; for ${mailboxes}.` : ended;
}

function matchedFirst(signers: readonly Signer[], matched: ReadonlySet<Signer>): Signer[] {
  return [...signers.filter((one) => matched.has(one)), ...signers.filter((one) => !matched.has(one))];
}

/** Statuses of signers that need words. SENT needs none: an email may have been opened without a report. */
const STATES: Readonly<Record<string, string>> = {
  SENT: '',
  PENDING: 'not asked yet',
  AWAITING_TURN: 'not asked yet',
};

/** `Ada (opened) and Bo`, `Ada and Bo (not asked yet)`, `Ada and 2 more`. */
function pendingSigners(signers: readonly Signer[], label: (one: Signer) => string): string {
  const most = signers.length > 2 ? 1 : 2;
  const shown = signers.slice(0, most).map((one) => ({ name: label(one), state: stateOf(one) }));
  const isSame = shown.every(({ state }) => state === shown[0]?.state);
  const texts = shown.map(({ name, state }, index) =>
    state === '' || (isSame && index < shown.length - 1) ? name : `${name} (${state})`,
  );
  const more = signers.length > most ? ` and ${signers.length - most} more` : '';
  return `${texts.join(' and ')}${more}`;
}

function stateOf(signer: Signer): string {
  if (hasOpened(signer)) return 'opened';
  return ownValue(STATES, signer.status ?? '') ?? signer.status?.toLowerCase() ?? '';
}
