import type { EnvelopeInput } from '../once/create-body.ts';

/** A valid row. */
export interface RunRow {
  /** Number of the row from 1, not counting the header and empty lines. */
  row: number;
  line: number;
  /** The row's own request ID, or else one that stands for its content and its signers. */
  requestId: string;
  identity: 'given' | 'content' | 'generated';
  /** `metadata.esignContent`. `cells`: hash of the cells as they are in the file. */
  content: string;
  cells: string;
  /** The line of an earlier row with the same content, so that this one isn't sent. */
  sameAs?: number | undefined;
  envelope: EnvelopeInput;
}
