import { hash } from 'node:crypto';

/** Sixteen hexadecimal digits that name a text among others, the same in every process, and do not give it away. */
export function shortDigest(text: string): string {
  return hash('sha256', text).slice(0, 16);
}

/** Names the account of a key at a base URL in file names and records, without revealing the key. */
export function accountOf(baseUrl: string, apiKey: string): string {
  return shortDigest(`${baseUrl}\n${apiKey}`);
}
