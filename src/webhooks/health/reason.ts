/** A problem of a listener. */
export interface Reason {
  code: 'journal' | 'tunnel' | 'forward' | 'signature' | 'clock' | 'port' | 'connections' | 'stopping';
  message: string;
}
