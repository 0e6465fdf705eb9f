import { userInfo } from 'node:os';

/** Returns the user's name, or the numeric ID if the system has no name for it. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
