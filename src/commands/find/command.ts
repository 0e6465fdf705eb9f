import type { Envelope, Signer } from '../../api/schemas.ts';
import { EsignCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { booleanFlag, listFlags, requiredArg } from '../../cli/flags.ts';
import { limited } from '../../cli/input/limit.ts';
import { searchText, selectionFlags, selectionOf } from '../../cli/selection/flags.ts';
import { searchEnvelopes } from '../../cli/selection/search.ts';
import type { IndexResult } from '../../envelope-index/query.ts';
import { replacedBy } from '../../envelopes/replace/find.ts';
import { matchedSigners, type Selection } from '../../envelopes/select.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { entryOf } from '../../kernel/json.ts';
import { mapEach } from '../../kernel/streams.ts';
import { hasSigned, isInFlight, isVoid } from '../../kernel/vocabulary.ts';
import { isTableOutput, writeList } from '../../output/list.ts';
import { indented } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { safeLine, truncate, widthOf } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import { envelopeList, inOrder, mailboxOf, nameOf, namesOf, noMatches } from '../envelopes/list/view.ts';
import { successorOf } from '../envelopes/replace/successor.ts';
import { renderEnvelope, statusText } from '../envelopes/view.ts';

const { search: _, ...otherFlags } = selectionFlags;

export default class Find extends EsignCommand {
  static override summary = 'Search envelopes by signer name, email address, subject, or metadata.';
  static override description =
    "Each word must match the beginning of a word in the ID, the subject, a signer's name or address, the template's name or ID, or a metadata value. Case and accents are ignored. Finished envelopes are cached on this machine, so only the first search reads all of them; see `esign index show`.";
  static override examples = [
    '<%= config.bin %> find lukasz',
    '<%= config.bin %> find rehor 1377',
    '<%= config.bin %> find lukasz@example.com --status SENT,IN_PROGRESS',
    '<%= config.bin %> find contract 1377 -q',
    '<%= config.bin %> find lukasz --run last',
  ];
  static override strict = false;
  static override args = {
    text: requiredArg('search terms; each matches the beginning of a word'),
  };
  static override flags = {
    ...listFlags,
    ...otherFlags,
    cached: booleanFlag('search only the local index, without contacting the service'),
  };

  async run(): Promise<void> {
    const { argv, flags, context, terminal } = await this.start(Find);
    const selection = await selectionOf({ ...flags, search: searchText(argv.join(' ')) }, context);
    // On a terminal, the envelopes are described in sentences.
    const isDescribed = isTableOutput(flags, terminal);
    const hits = await searchEnvelopes(
      selection,
      { limit: limited.maxItems(flags), cached: flags.cached, oneSignerFirst: isDescribed },
      context,
    );
    let count = 0;
    const envelopes = mapEach(hits.envelopes, (one) => {
      count++;
      return one;
    });
    if (isDescribed) await printFound(envelopes, hits, selection, context);
    else {
      const { empty: _, ...view } = envelopeList(() => context.session.now(), selection);
      await writeList(envelopes, view, flags, terminal.hidingSecrets());
    }
    if (flags.cached) terminal.notice(ageOf(hits));
    // Also printed with --json: an empty list may mean a misspelled word.
    if (count === 0 && !flags.quiet) terminal.notice(noMatches(selection));
    if (hits.hasMore()) limited.notice(flags, context, hits.total());
  }
}

async function printFound(
  envelopes: AsyncIterable<Envelope>,
  hits: IndexResult,
  selection: Selection,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const found: Envelope[] = [];
  for await (const one of envelopes) found.push(one);
  const [only] = found;
  const successors = await successorsOf(found, context);
  if (only !== undefined && found.length === 1 && !hits.hasMore())
    return terminal.out(renderEnvelope(only, terminal, context.session.now(), successors.get(only.id)));
  await terminal.out(renderHits(found, { selection, successors }, terminal, context.session.now()));
}

/** Finds the replacements of these envelopes: among them, or in this machine's records. */
async function successorsOf(
  found: readonly Envelope[],
  context: Context,
): Promise<ReadonlyMap<string, Envelope>> {
  const successors = new Map<string, Envelope>();
  for (const one of found) {
    const old = replacedBy(one);
    if (old !== undefined && !isVoid(one)) successors.set(old, one);
  }
  const client = await context.session.client();
  for (const one of found.filter(({ id }) => !successors.has(id))) {
    const made = await successorOf(one, { client, looks: false }, context);
    if (made) successors.set(one.id, made);
  }
  return successors;
}

function ageOf({ knownAt }: IndexResult): string {
  if (knownAt === undefined)
    return 'The local index is incomplete. To search all envelopes, leave out --cached.';
  const age = Math.max(0, Date.now() - knownAt);
  return `Results are up to ${durationInWords(age)} old. To query the service, leave out --cached.`;
}

/** Renders each envelope on two lines: its subject and ID, then who has signed, who it waits for, and since when. */
function renderHits(
  envelopes: readonly Envelope[],
  /** `successors`: by the ID of the envelope that each one replaces. */
  { selection, successors }: { selection: Selection; successors: ReadonlyMap<string, Envelope> },
  terminal: Terminal,
  now: number,
): string {
  const matchedIn = matchedSigners(selection);
  const sentence = (one: Envelope) => {
    const matched = new Set(matchedIn(one).map(({ signer }) => signer));
    return withReplacements(sentenceOf(one, matched, now), one, successors.get(one.id));
  };
  return envelopes.map((one) => hit(one, sentence(one), terminal)).join('');
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

function hit(envelope: Envelope, sentence: string, terminal: Terminal): string {
  const id = safeLine(envelope.id);
  const room = Math.max(10, terminal.columns - widthOf(id) - 2);
  const subject = truncate(safeLine(envelope.subject || envelope.templateName || '(no subject)'), room);
  const head = `${terminal.style('bold', subject)}  ${terminal.style('dim', id)}`;
  return `${head}\n  ${indented(safeLine(sentence), 2, terminal)}\n`;
}

/** Returns who has signed, who it waits for, and when it was sent and expires; for an ended envelope, how it ended. */
function sentenceOf(envelope: Envelope, matched: ReadonlySet<Signer>, now: number): string {
  const { sentAt, expiresAt, status } = envelope;
  const signers = inOrder(envelope);
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

/** Describes a signer's status. Unknown statuses are shown as they are. */
const OPENED: Readonly<Record<string, string>> = {
  VIEWED: 'opened',
  DELIVERED: 'opened',
  SENT: 'not opened',
  PENDING: 'not asked yet',
  AWAITING_TURN: 'not asked yet',
};

/** `Ada (opened) and Bo (not opened)`, `Ada and Bo (not opened)`, `Ada (not opened) and 2 more`. */
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

function stateOf({ status }: Signer): string {
  return entryOf(OPENED, status ?? '') ?? status?.toLowerCase() ?? '';
}
