import type { Envelope } from '../api/resource-types.ts';
import {
  CONTENT_KEY,
  OWN_METADATA_KEYS,
  REPLACES_KEY,
  REQUEST_ID_KEY,
  ROW_KEY,
  RUN_KEY,
} from '../kernel/vocabulary.ts';

/** A metadata key that esign writes to find an envelope again. */
export type Marker =
  | typeof REQUEST_ID_KEY
  | typeof CONTENT_KEY
  | typeof RUN_KEY
  | typeof ROW_KEY
  | typeof REPLACES_KEY;

const MARKERS: readonly string[] = OWN_METADATA_KEYS.map((key) => key.toLowerCase());

/** Returns the value of a marker, even if the service changed the case of its key. */
export function markerOf({ metadata }: Pick<Envelope, 'metadata'>, marker: Marker): unknown {
  if (!metadata) return undefined;
  if (metadata[marker] !== undefined) return metadata[marker];
  const key = Object.keys(metadata).find((one) => one.toLowerCase() === marker.toLowerCase());
  return key === undefined ? undefined : metadata[key];
}

/** Returns the request ID that an envelope was created with, in the form in which it is compared. */
export function requestIdOf(envelope: Pick<Envelope, 'metadata'>): string | undefined {
  return comparableRequestId(markerOf(envelope, REQUEST_ID_KEY));
}

/** Returns a request ID in the form in which it is compared: a service may trim it, or return it as a number or in another Unicode form. */
function comparableRequestId(id: unknown): string | undefined {
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' ? id.trim().normalize('NFC') : undefined;
}

/** Returns the hash of the content that an envelope was created with (once/request-identity.ts). */
export function contentIn(envelope: Pick<Envelope, 'metadata'>): string | undefined {
  return textIn(envelope, CONTENT_KEY);
}

export function hasMarker({ metadata }: Pick<Envelope, 'metadata'>): boolean {
  return Object.keys(metadata ?? {}).some((key) => MARKERS.includes(key.toLowerCase()));
}

/** Returns the bulk run that created the envelope, if any. */
export function runOf(envelope: Pick<Envelope, 'metadata'>): string | undefined {
  return textIn(envelope, RUN_KEY);
}

/** Returns the number of the row of its run that the envelope was created for, if any. */
export function rowOf(envelope: Pick<Envelope, 'metadata'>): number | undefined {
  const row = Number(markerOf(envelope, ROW_KEY) ?? Number.NaN);
  return Number.isInteger(row) ? row : undefined;
}

/** Returns the ID of the envelope that this one replaces, if any. */
export function replacedBy(envelope: Pick<Envelope, 'metadata'>): string | undefined {
  return textIn(envelope, REPLACES_KEY);
}

function textIn(envelope: Pick<Envelope, 'metadata'>, marker: Marker): string | undefined {
  const text = markerOf(envelope, marker);
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}
