import { hash } from 'node:crypto';

/** Sixteen hexadecimal digits that name a text among others, the same in every process, and do not give it away. */
export function shortDigest(text: string): string {
  return hash('sha256', text).slice(0, 16);
}
