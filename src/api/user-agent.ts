/** Returns the User-Agent header of a command, or of a program that uses the client. */
export function userAgentOf(version?: string): string {
  return version === undefined ? 'esign-cli-client' : `esign-cli/${version}`;
}
