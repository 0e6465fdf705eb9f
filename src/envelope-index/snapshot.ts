import { envelopeSchema, matches } from '../api/schemas.ts';
import { RunMembers, type SelectedRun } from '../envelopes/run-members.ts';
import { isAsWritten, readTo } from '../journal/line.ts';
import { timeOf } from '../kernel/clock.ts';
import { isRecord } from '../kernel/json.ts';
import { hasWords } from '../kernel/text/words.ts';
import { LIMITS, REPLACES_KEY } from '../kernel/vocabulary.ts';
import {
  BETWEEN_TEXTS,
  type Completeness,
  ENVELOPE_AT,
  type EntryHead,
  isHead,
  isRemark,
  type Remark,
} from './entry.ts';

/** What is looked for, folded. The file answers it roughly: every envelope that fits is a hit, and a few others. */
export interface Question {
  /** Every one begins a word of the envelope. */
  words?: readonly string[] | undefined;
  /** Stands somewhere in it. */
  part?: string | undefined;
  /** The template's id or name. */
  template?: string | undefined;
  /** Values of its metadata. */
  values?: readonly string[] | undefined;
  /** The run it belongs to. */
  run?: SelectedRun | undefined;
}

/** One envelope as the index knows it. */
export interface Known extends Omit<EntryHead, 'created'> {
  /** In ms; NaN where the service did not say. */
  created: number;
  /** Where its line stands in the file; an envelope that only a webhook named has none. */
  start: number;
  end: number;
  /** Something happened to it since it was read. */
  touched: boolean;
  /** Whether it answers the question that the file was read for. */
  hit: boolean;
  /** Whether it can't, whatever else there is to know of it. */
  excluded: boolean;
}

/** True where only the service can say how it stands now. */
export function canChange({ known, touched }: Known): boolean {
  return known !== 'final' || touched;
}

/** True where words may be in it that the index does not know. */
export function isPartly({ known }: Known): boolean {
  return known === 'part';
}

/**
 * Returns true when reading the whole list takes fewer requests than reading this many envelopes one by one, and its items
 * say as much. `since`: when the question came, in ms; the items read from then on are the sample.
 */
export function isListCheaper({ known }: Snapshot, envelopes: number, since: number): boolean {
  if (envelopes * LIMITS.pageSize <= known.size) return false;
  const listed = [...known.values()].filter(({ seen }) => seen >= since);
  return listed.length > 0 && listed.every((one) => !isPartly(one));
}

const TEXTS = Buffer.from(',"texts":');
const CRC = Buffer.from(',"crc":');
const METADATA = Buffer.from('"metadata":{');
const REPLACES = Buffer.from(`"${REPLACES_KEY}":`);

/** Everything that a file of the index says, with its lines applied in their order. The envelopes themselves stay in the file. */
export class Snapshot {
  readonly known = new Map<string, Known>();
  /** Lines that are not as they were written; they count for nothing. */
  damaged = 0;
  /** Bytes up to the end of the last line that was read. */
  size = 0;
  /** Which file that was: another one may take its place. */
  file: string | undefined;
  /** When every envelope of the service was known the last time; undefined: never. */
  completeness: Completeness | undefined;
  readonly #words: readonly string[];
  /** Bytes without which a line can't be an answer. */
  readonly #needles: readonly Buffer[];
  /** The same, of what even a list shows. */
  readonly #template: readonly Buffer[];
  /** The same, of metadata, where a line shows that. */
  readonly #values: readonly Buffer[];
  readonly #run: Buffer | undefined;
  /** The envelopes of the run that is asked for. */
  readonly members: RunMembers | undefined;

  constructor({ words = [], part, template, values = [], run }: Question = {}) {
    this.#words = words;
    this.#values = values.map(bytesOf);
    this.#needles = [...[...words, ...given(part)].map(bytesOf), ...this.#values];
    this.#template = given(template).map(bytesOf);
    this.#run = run && bytesOf(run.id);
    this.members = run && new RunMembers(run);
  }

  /** Takes one line, in the order of the file. */
  take(line: Buffer, start: number, end: number): void {
    this.size = end;
    if (line.length === 0) return;
    if (!isAsWritten(line)) {
      this.damaged++;
      return;
    }
    const texts = line.indexOf(TEXTS);
    const value = readTo(line, texts < 0 ? line.lastIndexOf(CRC) : texts);
    if (isHead(value)) this.#enter(value, line, start, end);
    else if (isRemark(value)) this.#apply(value);
  }

  /** Bytes of the lines that still count. */
  get live(): number {
    let bytes = 0;
    for (const { start, end } of this.known.values()) bytes += end - start;
    return bytes;
  }

  #enter(head: EntryHead, line: Buffer, start: number, end: number): void {
    const { id, status, known, seen } = head;
    const before = this.known.get(id);
    // A line that was written late tells less than what was read since.
    if (before !== undefined && before.seen > seen) return;
    const created = timeOf(head.created);
    if (before && known === 'part' && !isPartly(before) && Object.is(before.created, created)) {
      before.touched ||= before.status !== status;
      before.status = status;
      return;
    }
    const shows = known !== 'part' || line.includes(METADATA);
    this.#addMember(id, created, line, shows);
    const excluded = !standIn(line, this.#template) || (shows && !standIn(line, this.#values));
    const hit = !excluded && standIn(line, this.#needles) && this.#beginsWords(line);
    const one = { id, status, created, known, seen, start, end, touched: false, hit, excluded };
    this.known.set(id, one);
  }

  /** Parses only the lines that may belong to the run. */
  #addMember(id: string, created: number, line: Buffer, showsMetadata: boolean): void {
    if (this.members === undefined || this.#run === undefined) return;
    const isCandidate = line.includes(this.#run) || line.includes(REPLACES);
    const value = isCandidate ? readTo(line, line.lastIndexOf(CRC)) : undefined;
    const envelope = isRecord(value) && matches(envelopeSchema, value.envelope) ? value.envelope : undefined;
    const absent = showsMetadata ? null : undefined;
    this.members.add(id, created, envelope?.metadata ?? absent);
  }

  #apply(remark: Remark): void {
    if ('complete' in remark) {
      const { complete, upTo, extra } = remark;
      this.completeness = { complete, upTo, extra };
    } else if ('gone' in remark) {
      this.known.delete(remark.gone);
    } else this.#touch(remark.touched, remark.status, remark.seen);
  }

  #touch(id: string, status: string, seen: number): void {
    const before = this.known.get(id);
    if (before?.known === 'final') return;
    if (before) Object.assign(before, { status, touched: true });
    else this.known.set(id, { ...UNREAD, id, status, seen });
  }

  /** Whether the words of the question begin words of the texts. */
  #beginsWords(line: Buffer): boolean {
    if (this.#words.length === 0) return true;
    const value = readTo(line, line.indexOf(ENVELOPE_AT));
    const texts = isRecord(value) && typeof value.texts === 'string' ? value.texts : '';
    return hasWords(texts.split(BETWEEN_TEXTS), this.#words);
  }
}

/** Whether all stand before the envelope. Where that begins is asked last: nearly every line lacks what is looked for. */
function standIn(line: Buffer, needles: readonly Buffer[]): boolean {
  return needles.every((needle) => {
    const at = line.indexOf(needle);
    return at >= 0 && at < line.indexOf(ENVELOPE_AT);
  });
}

/** What a webhook named and nobody has read yet. */
const UNREAD = {
  created: Number.NaN,
  known: 'part',
  start: 0,
  end: 0,
  touched: true,
  hit: false,
  excluded: false,
} as const;

function given(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

/** A text as it stands in a line of JSON. */
function bytesOf(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}
