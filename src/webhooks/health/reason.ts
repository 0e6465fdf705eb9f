/** Why a listener does not do its work as it should. */
export interface Reason {
  code: 'journal' | 'tunnel' | 'forward' | 'signature' | 'clock' | 'port' | 'connections' | 'stopping';
  message: string;
}
