import { mkdir, readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../kernel/files.ts';
import { isLocked, lockFile } from '../kernel/process-lock.ts';
import { mapAhead } from '../kernel/streams.ts';

/** The file that says whose run a folder and all below it belong to; it goes with the run. */
const CLAIM_NAME = '.esign.lock';
const SYNCS_AT_ONCE = 16;

interface Folder {
  /** No other run writes here: part files found here may be gone on with. */
  alone: boolean;
  /** What was there when the run came, as a disk without case would tell it. */
  names: ReadonlySet<string>;
}

interface Base {
  alone: boolean;
  release: (() => Promise<void>) | undefined;
}

/**
 * The folders a run writes to: one and those below it. The run claims the upper one; only the claim's owner goes on
 * with part files found there. Another run at the same time uses names of its own, so that neither harms the other.
 */
export class Folders {
  private readonly dir: string;
  private base: Promise<Base> | undefined;
  private readonly entries = new Map<string, Promise<Folder>>();
  private readonly renamed = new Set<string>();

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Makes the folder, the run's own or one below it. */
  enter(folder: string): Promise<Folder> {
    let entry = this.entries.get(folder);
    if (entry === undefined) {
      entry = this.open(folder);
      this.entries.set(folder, entry);
      entry.catch(() => this.entries.delete(folder));
    }
    return entry;
  }

  private async open(folder: string): Promise<Folder> {
    this.base ??= claimBase(this.dir);
    const { alone } = await this.base;
    const made = folder === this.dir ? undefined : await mkdir(folder, { recursive: true });
    if (made !== undefined) {
      this.touched(dirname(folder));
      return { alone, names: new Set() };
    }
    const names = await readdir(folder);
    // A run of its own may have begun further down.
    const taken = folder !== this.dir && names.includes(CLAIM_NAME);
    return { alone: alone && !taken, names: new Set(names.map(caseless)) };
  }

  /** A file got its name there: the folder has to be made durable. */
  touched(folder: string): void {
    this.renamed.add(folder);
  }

  /** Makes all names durable that were given so far. */
  async sync(): Promise<void> {
    const folders = [...this.renamed];
    this.renamed.clear();
    for await (const _ of mapAhead(folders, SYNCS_AT_ONCE, syncFolder));
  }

  async close(): Promise<void> {
    const base = await this.base?.catch(() => undefined);
    await base?.release?.();
    await this.sync();
  }
}

/** The name as a disk without case would tell it. */
export function caseless(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

async function claimBase(dir: string): Promise<Base> {
  await mkdir(dir, { recursive: true });
  // Another run has it, or the disk knows no links and so no claims: nothing is gone on with there.
  const release = await lockFile(join(dir, CLAIM_NAME), (pid) => new Error(pid)).catch(() => undefined);
  // First the own claim, then a look at those above: of two runs at least one sees the other.
  return { alone: release !== undefined && !(await isClaimedAbove(dir)), release };
}

async function isClaimedAbove(dir: string): Promise<boolean> {
  let folder = await realpath(dir);
  while (dirname(folder) !== folder) {
    folder = dirname(folder);
    if (await isLocked(join(folder, CLAIM_NAME))) return true;
  }
  return false;
}
