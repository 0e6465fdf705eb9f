import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../kernel/files.ts';
import { lockFile } from '../kernel/process-lock.ts';

/** The file that says whose run a folder belongs to; it goes with the run. */
const CLAIM_NAME = '.esign.lock';
/** Claims kept for folders nothing is written to just now, so that they need not be made again. */
const IDLE_CLAIMS = 64;

interface Entry {
  /** What was there when the run came, as a disk without case would tell it. */
  names: ReadonlySet<string>;
  alone: boolean;
  release: (() => Promise<void>) | undefined;
  users: number;
}

/**
 * The folders a run writes to. Each is claimed while it is in use: only the claim's owner goes on with part files
 * found there; another run at the same time uses names of its own, so that neither harms the other.
 */
export class Folders {
  private readonly entries = new Map<string, Promise<Entry>>();
  private readonly renamed = new Set<string>();

  /** Makes the folder and uses it; true when no other run does. Call `leave` afterwards. */
  async enter(folder: string): Promise<boolean> {
    let pending = this.entries.get(folder);
    if (pending === undefined) {
      pending = openEntry(folder);
      this.entries.set(folder, pending);
      pending.catch(() => this.entries.delete(folder));
    }
    const entry = await pending;
    entry.users++;
    return entry.alone;
  }

  /** False when the run that uses the folder alone found no file of that name there. */
  async had(folder: string, name: string): Promise<boolean> {
    const entry = await this.entries.get(folder);
    return entry === undefined || !entry.alone || entry.names.has(caseless(name));
  }

  async leave(folder: string): Promise<void> {
    const entry = await this.entries.get(folder);
    if (entry === undefined) return;
    entry.users--;
    if (entry.users > 0 || this.entries.size <= IDLE_CLAIMS) return;
    this.entries.delete(folder);
    await entry.release?.();
  }

  /** A file got its name there: the folder has to be made durable. */
  touched(folder: string): void {
    this.renamed.add(folder);
  }

  /** Makes all names durable that were given so far. */
  async sync(): Promise<void> {
    const folders = [...this.renamed];
    this.renamed.clear();
    for (const folder of folders) await syncFolder(folder);
  }

  async close(): Promise<void> {
    const entries = await Promise.allSettled(this.entries.values());
    this.entries.clear();
    for (const entry of entries) if (entry.status === 'fulfilled') await entry.value.release?.();
    await this.sync();
  }
}

function caseless(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

async function openEntry(folder: string): Promise<Entry> {
  await mkdir(folder, { recursive: true });
  // Another run has it, or the disk knows no links and so no claims: nothing is gone on with there.
  const release = await lockFile(join(folder, CLAIM_NAME), (pid) => new Error(pid)).catch(() => undefined);
  const names = new Set((await readdir(folder)).map(caseless));
  return { names, alone: release !== undefined, release, users: 0 };
}
