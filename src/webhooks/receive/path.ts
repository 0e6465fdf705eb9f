/** Returns true if requests for both paths arrive at the same place: a trailing slash is ignored. */
export function isSamePath(a: string, b: string): boolean {
  return withoutSlash(a) === withoutSlash(b);
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
