export const REASON_CODES = [
  'journal',
  'tunnel',
  'forward',
  'signature',
  'clock',
  'port',
  'connections',
  'stopping',
] as const;

/** A problem of a listener. */
export interface Reason {
  code: (typeof REASON_CODES)[number];
  message: string;
}
