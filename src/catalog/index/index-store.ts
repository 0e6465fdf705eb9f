import type { TakeLine } from '../../lines/read-lines.ts';
import type { Snapshot } from './snapshot.ts';

/** Where the lines of an index are: in a file, or only in memory. */
export interface IndexStore {
  /** The file, or `memory`. */
  readonly place: string;
  /** Whether its lines outlast the command. */
  readonly isKept: boolean;
  /** Appends complete lines. */
  append(text: string): void;
  clear(): void;
  /** Identifies the content, because another process may replace it. Undefined if nothing is stored yet. */
  identity(): Promise<string | undefined>;
  /** Reads the lines from an offset; 0 is the first one. */
  eachLine(from: number, take: TakeLine): Promise<void>;
  /** Opens it to read single lines. The caller closes it. */
  open(): StoredLines;
  /** Removes what is obsolete, if that is worth it. Returns true if the lines have other positions now. */
  tidy(snapshot: Snapshot): Promise<boolean>;
}

/** Reads lines of an index by their positions. */
export interface StoredLines {
  /** Returns a line with its line break; other bytes if the index was replaced. */
  line(start: number, end: number): Buffer;
  close(): void;
}
