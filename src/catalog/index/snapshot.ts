import { envelopeSchema, matches } from '../../api/schemas.ts';
import { isIntactLine, parseUpTo } from '../../journal/line.ts';
import { timeOf } from '../../kernel/clock.ts';
import { entryOf, isRecord } from '../../kernel/json.ts';
import { folded, hasWords } from '../../kernel/text/words.ts';
import { type EnvelopeStatus, LIMITS, REPLACES_KEY } from '../../kernel/vocabulary.ts';
import { RunMembers } from '../run-members.ts';
import type { Selection } from '../select.ts';
import {
  type Completeness,
  ENVELOPE_AT,
  type EntryHead,
  type IndexEvent,
  isHead,
  isIndexEvent,
  TEXT_SEPARATOR,
} from './entry.ts';

export interface IndexedEnvelope extends Omit<EntryHead, 'created'> {
  /** In ms; NaN if the service left it out. */
  created: number;
  /** The position of its line in the file. */
  start: number;
  end: number;
  /** True if it contains the texts of the selection. */
  hit: boolean;
  /** True if it can't contain them, even if more of it were known. */
  excluded: boolean;
}

/** Returns true if the envelope may have changed since it was read. */
export function canChange({ known }: IndexedEnvelope): boolean {
  return known !== 'final';
}

/** Returns true if the index lacks some of its searchable fields. */
export function isPartlyKnown({ known }: IndexedEnvelope): boolean {
  return known === 'part';
}

const TEXTS = Buffer.from(',"texts":');
const CRC = Buffer.from(',"crc":');
const METADATA = Buffer.from('"metadata":{');
const TEMPLATE = [Buffer.from('"templateId":"'), Buffer.from('"templateName":"')];
const REPLACES = Buffer.from(`"${REPLACES_KEY}":`);

/**
 * The content of an index file, built from its lines in order, and which envelopes match a selection. The envelopes themselves stay
 * in the file.
 */
export class Snapshot {
  readonly known = new Map<string, IndexedEnvelope>();
  /** The number of damaged lines, which are skipped. */
  damaged = 0;
  /** Bytes up to the end of the last line that was read. */
  size = 0;
  /** Identifies the file that was read, because another one may replace it. */
  file: string | undefined;
  /** When the index was last complete; undefined if it never was. */
  completeness: Completeness | undefined;
  readonly #selection: Selection;
  readonly #words: readonly string[];
  /** Bytes that every matching line contains. */
  readonly #needles: readonly Buffer[];
  /** The same, for the template, if the line has its ID and name. */
  readonly #template: readonly Buffer[];
  /** The same, for metadata, if the line has any. */
  readonly #values: readonly Buffer[];
  readonly #run: Buffer | undefined;
  /** The envelopes of the selected run. */
  readonly members: RunMembers | undefined;

  constructor(selection: Selection = {}) {
    const { words = [], signer, template, metadata = [], run } = selection;
    this.#selection = selection;
    this.#words = words;
    this.#values = metadata.flatMap(([, value]) => (value === '' ? [] : [bytesOf(folded(value))]));
    this.#needles = [...[...words, ...given(signer)].map(bytesOf), ...this.#values];
    this.#template = given(template?.name).map(bytesOf);
    this.#run = run && bytesOf(run.id);
    this.members = run && new RunMembers(run);
  }

  /** Adds the next line of the file. */
  take(line: Buffer, start: number, end: number): void {
    this.size = end;
    if (line.length === 0) return;
    if (!isIntactLine(line)) {
      this.damaged++;
      return;
    }
    const texts = line.indexOf(TEXTS);
    const value = parseUpTo(line, texts < 0 ? line.lastIndexOf(CRC) : texts);
    if (isHead(value)) this.#addEnvelope(value, line, start, end);
    else if (isIndexEvent(value)) this.#apply(value);
  }

  /** Returns the matching envelopes, newest first. It may return a few too many, but never misses one. `now`: by the service's clock. */
  hits(now: number): IndexedEnvelope[] {
    return [...this.known.values()].filter((one) => this.isHit(one, now)).sort(newestFirst);
  }

  isHit(one: IndexedEnvelope, now: number): boolean {
    return one.hit && this.#mayMatch(one, now) && (this.members?.has(one.id) ?? true);
  }

  /** Returns the envelopes that have to be read to see whether they match. */
  missing(now: number): IndexedEnvelope[] {
    const { members } = this;
    const mayBelong = (id: string) => members === undefined || members.has(id) || members.isUndecided(id);
    const isMissing = (one: IndexedEnvelope) => isPartlyKnown(one) && !one.hit && !one.excluded;
    return [...this.known.values()].filter(
      (one) => isMissing(one) && mayBelong(one.id) && this.#mayMatch(one, now),
    );
  }

  /**
   * Returns true if reading the whole list takes fewer requests than reading this many envelopes one by one, and the list shows
   * the same fields. `since`: when the query began, in ms; the items read after that are the sample, not those of the same
   * millisecond.
   */
  isListCheaper(envelopes: number, since: number): boolean {
    if (envelopes * LIMITS.pageSize <= this.known.size) return false;
    const listed = [...this.known.values()].filter(({ seen }) => seen > since);
    return listed.length > 0 && listed.every((one) => !isPartlyKnown(one));
  }

  /** The size of the lines that aren't obsolete, in bytes. */
  get live(): number {
    let bytes = 0;
    for (const { start, end } of this.known.values()) bytes += end - start;
    return bytes;
  }

  #addEnvelope(head: EntryHead, line: Buffer, start: number, end: number): void {
    const { id, status, known } = head;
    // A time in the future was recorded before the clock was set back, and would hide later lines and make the envelope look current.
    const seen = head.seen > Date.now() ? 0 : head.seen;
    const before = this.known.get(id);
    // A line may be written after one that was read later.
    if (before !== undefined && before.seen > seen) return;
    const created = timeOf(head.created);
    if (before && known === 'part' && !isPartlyKnown(before) && Object.is(before.created, created)) {
      before.status = status;
      return;
    }
    const shows = known !== 'part' || line.includes(METADATA);
    this.#addMember(id, created, line, shows);
    const showsTemplate = known !== 'part' || TEMPLATE.every((member) => line.includes(member));
    const excluded =
      (showsTemplate && !containsAll(line, this.#template)) || (shows && !containsAll(line, this.#values));
    const hit = !excluded && containsAll(line, this.#needles) && this.#hasWords(line);
    const one = { id, status, created, known, seen, start, end, hit, excluded };
    this.known.set(id, one);
  }

  /** Parses only the lines that may belong to the run. */
  #addMember(id: string, created: number, line: Buffer, showsMetadata: boolean): void {
    if (this.#run === undefined) return;
    const isCandidate = line.includes(this.#run) || line.includes(REPLACES);
    const value = isCandidate ? parseUpTo(line, line.lastIndexOf(CRC)) : undefined;
    const envelope = isRecord(value) && matches(envelopeSchema, value.envelope) ? value.envelope : undefined;
    const absent = showsMetadata ? null : undefined;
    this.members?.add(id, created, envelope?.metadata ?? absent);
  }

  #apply(event: IndexEvent): void {
    if ('complete' in event) {
      const { complete, upTo, extra } = event;
      this.completeness = { complete, upTo, extra };
    } else this.known.delete(event.gone);
  }

  /** Returns false if its creation time or its last known status shows that it can't match anymore. */
  #mayMatch({ status, created }: IndexedEnvelope, now: number): boolean {
    const { statuses, createdAfter, createdBefore } = this.#selection;
    if (createdAfter !== undefined && created < createdAfter(now)) return false;
    if (createdBefore !== undefined && created > createdBefore(now)) return false;
    if (statuses === undefined || statuses.includes(status)) return true;
    const next = entryOf<readonly string[]>(NEXT, status);
    return next === undefined || next.some((one) => statuses.includes(one));
  }

  /** Returns true if each word of the search begins a word of the texts. */
  #hasWords(line: Buffer): boolean {
    if (this.#words.length === 0) return true;
    const value = parseUpTo(line, line.indexOf(ENVELOPE_AT));
    const texts = isRecord(value) && typeof value.texts === 'string' ? value.texts : '';
    return hasWords(texts.split(TEXT_SEPARATOR), this.#words);
  }
}

/** Returns true if all needles occur before the envelope. Looks for the envelope last, because most lines lack a needle. */
function containsAll(line: Buffer, needles: readonly Buffer[]): boolean {
  return needles.every((needle) => {
    const at = line.indexOf(needle);
    return at >= 0 && at < line.indexOf(ENVELOPE_AT);
  });
}

/** The statuses that can follow each status. DRAFT is missing, because any status can follow it. */
const NEXT: Readonly<Record<Exclude<EnvelopeStatus, 'DRAFT'>, readonly EnvelopeStatus[]>> = {
  COMPLETED: [],
  CANCELLED: [],
  EXPIRED: [],
  DECLINED: ['CANCELLED'],
  IN_PROGRESS: ['COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
  SENT: ['IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
};

/** Compares IDs if the times are equal, so that the order is always the same. */
function newestFirst(a: IndexedEnvelope, b: IndexedEnvelope): number {
  return (b.created || 0) - (a.created || 0) || (a.id < b.id ? 1 : -1);
}

function given(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

/** Returns a text as it is encoded in a line of JSON. */
function bytesOf(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}
