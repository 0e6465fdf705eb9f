import { timeOf } from '../../kernel/clock.ts';
import { isInFlight } from '../../kernel/statuses.ts';
import { foldText } from '../../kernel/text/search-words.ts';
import { REPLACES_KEY } from '../../kernel/vocabulary.ts';
import { checksumOf } from '../../lines/checksummed-line.ts';
import { RunMembers } from '../run-members.ts';
import {
  contentFilter,
  type MatchAnswer,
  matchesOneSigner,
  type Selection,
  stateFilter,
} from '../selection.ts';
import {
  type Completeness,
  type EntryHead,
  envelopeIn,
  hasAllTextsBeforeEnvelope,
  type IndexEvent,
  readHead,
} from './entry.ts';

/** An envelope of the index. The envelope itself stays in the file. */
export interface IndexedEnvelope extends Omit<EntryHead, 'created'> {
  /** In ms; NaN if the service left it out. */
  created: number;
  /** The checksum and the position of its line in the file. */
  checksum: number;
  start: number;
  end: number;
  /** Whether it meets the conditions that never change; undefined if only a GET can show it. */
  matches: MatchAnswer;
  /** In ms; NaN unless it matters. */
  expires: number;
  /** One signer matches every word of the search. */
  isOneSigner: boolean;
  /** The list shows another status than this line. */
  hasChanged: boolean;
}

type Match = Pick<IndexedEnvelope, 'matches' | 'expires' | 'isOneSigner'>;

/** The content of an index, built from its lines in order, and which envelopes match a selection. */
export class Snapshot {
  readonly known = new Map<string, IndexedEnvelope>();
  /** The number of damaged lines, which are skipped. */
  damaged = 0;
  /** Bytes up to the end of the last line that was read. */
  size = 0;
  /** Identifies the file that was read, because another one may replace it. */
  file: string | undefined;
  /** When the index was last complete; undefined if it never was, or if lines were lost since. */
  completeness: Completeness | undefined;
  /** The envelopes of the selected run. */
  readonly members: RunMembers | undefined;
  readonly #selection: Selection;
  readonly #needles: readonly Buffer[];
  readonly #run: readonly Buffer[];
  readonly #filter: ReturnType<typeof contentFilter> | undefined;

  constructor(selection: Selection = {}) {
    const { words, signer, template, metadata, run } = selection;
    this.#selection = selection;
    this.#needles = needlesOf(selection);
    this.#run = run ? [bytesOf(run.id), bytesOf(REPLACES_KEY)] : [];
    this.members = run && new RunMembers(run);
    const hasConditions = [words, signer, template, metadata].some((one) => one !== undefined);
    if (hasConditions) this.#filter = contentFilter(selection);
  }

  /** Adds the next line of the file. */
  take(line: Buffer, start: number, end: number): void {
    this.size = end;
    if (line.length === 0) return;
    const checksum = checksumOf(line);
    const head = checksum === undefined ? undefined : readHead(line);
    if (checksum === undefined || head === undefined) this.damaged++;
    else if ('id' in head) this.#addEnvelope(head, line, { checksum, start, end });
    else this.#apply(head);
  }

  /**
   * Adds what an item of the list shows if it has less than the index knows. Returns false if it is new or of another envelope:
   * then its line has to be added.
   */
  noteItem({ id, status, created, known }: Omit<EntryHead, 'created'> & { created: number }): boolean {
    const before = this.known.get(id);
    if (known !== 'part' || before === undefined || before.known === 'part') return false;
    if (!Object.is(before.created, created)) return false;
    if (before.status !== status && before.known === 'final') return false;
    before.hasChanged ||= before.status !== status;
    before.status = status;
    return true;
  }

  /**
   * Returns the matching envelopes, newest first. Those that aren't current may be too many, because their status may have changed.
   * `now`: by the service's clock.
   */
  hits(now: number, isCurrent: (one: IndexedEnvelope) => boolean): IndexedEnvelope[] {
    return [...this.known.values()].filter(this.hitFilter(now, isCurrent)).sort(newestFirst);
  }

  /** Returns a test for the envelopes that `hits` returns. */
  hitFilter(now: number, isCurrent: (one: IndexedEnvelope) => boolean): (one: IndexedEnvelope) => boolean {
    const mayHaveState = this.#stateFilter(now);
    return (one) =>
      one.matches === true && mayHaveState(one, isCurrent(one)) && (this.members?.has(one.id) ?? true);
  }

  /** Returns the envelopes that have to be read to see whether they match. */
  undecided(now: number): IndexedEnvelope[] {
    const isOpen = ({ id, matches }: IndexedEnvelope) =>
      this.members?.isUndecided(id) === true ||
      (matches === undefined && (this.members === undefined || this.members.mayInclude(id)));
    const mayHaveState = this.#stateFilter(now);
    return [...this.known.values()].filter(
      (one) => one.known === 'part' && isOpen(one) && mayHaveState(one, false),
    );
  }

  /** The size of the lines that aren't obsolete, in bytes. */
  get live(): number {
    let bytes = 0;
    for (const { start, end } of this.known.values()) bytes += end - start;
    return bytes;
  }

  #addEnvelope(
    head: EntryHead,
    line: Buffer,
    place: Pick<IndexedEnvelope, 'checksum' | 'start' | 'end'>,
  ): void {
    const created = timeOf(head.created);
    if (head.known === 'part' && this.noteItem({ ...head, created })) return;
    const { id, status, known } = head;
    const { matches, expires, isOneSigner } = this.#matchOf(head, created, line);
    const { checksum, start, end } = place;
    const facts = { matches, expires, isOneSigner, hasChanged: false };
    this.known.set(id, { id, status, known, created, checksum, start, end, ...facts });
  }

  #matchOf(head: EntryHead, created: number, line: Buffer): Match {
    const { id, known } = head;
    const isPart = known === 'part';
    const mayMatch = isPart || hasAllTextsBeforeEnvelope(line, this.#needles);
    const envelope = this.#needsParsing(head, mayMatch, line) ? envelopeIn(line) : undefined;
    this.members?.add(id, created, envelope ? (envelope.metadata ?? (isPart ? undefined : null)) : null);
    if (!mayMatch) return { matches: false, expires: Number.NaN, isOneSigner: false };
    const answer = envelope && this.#filter ? this.#filter(envelope) : this.#filter === undefined;
    return {
      matches: answer ?? (isPart ? undefined : false),
      expires: timeOf(envelope?.expiresAt),
      isOneSigner: envelope !== undefined && matchesOneSigner(envelope, this.#selection),
    };
  }

  /** Returns true for the envelopes that may match or belong to the run. */
  #needsParsing({ status, known }: EntryHead, mayMatch: boolean, line: Buffer): boolean {
    if (this.#run.length > 0 && (known === 'part' || this.#run.some((bytes) => line.includes(bytes))))
      return true;
    const needsExpiry = this.#selection.expiresBefore !== undefined && isInFlight(status);
    return mayMatch && (this.#filter !== undefined || needsExpiry);
  }

  #apply(event: IndexEvent): void {
    if ('gone' in event) this.known.delete(event.gone);
    else this.completeness = this.known.size < event.count ? undefined : event;
  }

  /** Only an envelope that was read whole certainly lacks what it doesn't show. */
  #stateFilter(now: number): (one: IndexedEnvelope, isCurrent: boolean) => boolean {
    const filter = stateFilter(this.#selection, now);
    return ({ status, created, expires }, isCurrent) =>
      filter({ status, created, expires, isCurrent }) ?? !isCurrent;
  }
}

/** Returns bytes that occur in the texts of every matching envelope, so that the others need not be parsed. */
function needlesOf({ words = [], signer, template, metadata = [] }: Selection): Buffer[] {
  // An object is compared as JSON, which doesn't occur in the texts.
  const values = metadata.flatMap(([, value]) => (/^[{[]|^$/.test(value) ? [] : [foldText(value)]));
  const given = [signer, template?.name].filter((text) => text !== undefined);
  return [...words, ...given, ...values].map(bytesOf);
}

/** Compares IDs if the times are equal, so that the order is always the same. */
function newestFirst(a: IndexedEnvelope, b: IndexedEnvelope): number {
  return (b.created || 0) - (a.created || 0) || (a.id < b.id ? 1 : -1);
}

/** Returns a text as it is encoded in a line of JSON. */
function bytesOf(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}
