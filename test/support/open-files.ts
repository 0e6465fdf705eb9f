import { readdirSync, readlinkSync } from 'node:fs';

/** Returns the number of files in a folder that this process has open. Needs /proc. */
export function openFilesIn(dir: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(dir);
    } catch {
      return false;
    }
  }).length;
}
