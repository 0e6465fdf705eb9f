/** Returns true if requests for both paths arrive at the same place. A trailing slash is ignored. */
export function isSamePath(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '');
}
