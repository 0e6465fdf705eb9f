import type { Envelope } from '../api/schemas.ts';
import { REPLACES_KEY, REQUEST_ID_KEY, ROW_KEY, RUN_KEY } from '../kernel/vocabulary.ts';

/** A metadata key that esign writes to find an envelope again. */
export type Marker = typeof REQUEST_ID_KEY | typeof RUN_KEY | typeof ROW_KEY | typeof REPLACES_KEY;

const MARKERS: readonly string[] = [REQUEST_ID_KEY, RUN_KEY, ROW_KEY, REPLACES_KEY].map((key) =>
  key.toLowerCase(),
);

/** Returns the value of a marker, even if the service changed the case of its key. */
export function markerOf({ metadata }: Pick<Envelope, 'metadata'>, marker: Marker): unknown {
  if (!metadata) return undefined;
  if (metadata[marker] !== undefined) return metadata[marker];
  const key = Object.keys(metadata).find((one) => one.toLowerCase() === marker.toLowerCase());
  return key === undefined ? undefined : metadata[key];
}

export function requestIdOf(envelope: Pick<Envelope, 'metadata'>): string | undefined {
  const id = markerOf(envelope, REQUEST_ID_KEY);
  return typeof id === 'string' ? id : undefined;
}

export function showsMarker({ metadata }: Pick<Envelope, 'metadata'>): boolean {
  return Object.keys(metadata ?? {}).some((key) => MARKERS.includes(key.toLowerCase()));
}

/** Returns the bulk run that created the envelope, if any. */
export function runOf(envelope: Pick<Envelope, 'metadata'>): string | undefined {
  const run = markerOf(envelope, RUN_KEY);
  return typeof run === 'string' ? run : undefined;
}
