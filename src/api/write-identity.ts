/** What a write may do only once, so that the log can find an earlier one. */
export interface WriteIdentity {
  /** The ID of its entry in the log, if the caller has to recognize it. */
  id?: string;
  /** What identifies it (`createKey`, `remindKey` in log/write-keys.ts). */
  key: string;
  /** Other keys whose writes count as the same one. */
  otherKeys?: readonly string[];
  /** A hash of everything that is sent. */
  body?: string;
  /** Only earlier writes at this time (ms, service clock) or later count. Without it, all count. */
  since?: number;
  /** The service's time (ms), if the write is found again by it. */
  serviceAt?: number;
}
