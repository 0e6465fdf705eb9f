import { mkdir, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../kernel/errors.ts';
import { syncFolder } from '../../kernel/files.ts';
import { isLocked, lockFile } from '../../kernel/lock.ts';
import { mapAhead } from '../../kernel/streams.ts';
import type { FileThread } from '../file-thread.ts';

/** The file that says whose run a folder and all below it belong to; it goes with the run. */
const CLAIM_NAME = '.esign.lock';
const SYNCS_AT_ONCE = 16;
const SYNCED_TOGETHER = 64;

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
  private readonly thread: FileThread | undefined;
  private base: Promise<Base> | undefined;
  private readonly entries = new Map<string, Promise<Folder>>();
  /** Those that were missing when they were entered, until a file is in them. */
  private readonly missing = new Set<string>();
  private readonly renamed = new Set<string>();
  private syncing: Promise<void> = Promise.resolve();

  constructor(dir: string, thread?: FileThread) {
    // As a file's folder is written.
    this.dir = dirname(join(dir, 'file'));
    this.thread = thread;
  }

  /** Looks at a folder, the run's own or one below it; one that is missing is not made yet. */
  enter(folder: string): Promise<Folder> {
    let entry = this.entries.get(folder);
    if (entry === undefined) {
      entry = this.look(folder);
      this.entries.set(folder, entry);
      entry.catch(() => this.entries.delete(folder));
    }
    return entry;
  }

  private async look(folder: string): Promise<Folder> {
    this.base ??= claimBase(this.dir);
    const { alone } = await this.base;
    const names = (await this.isMissing(folder)) ? undefined : await namesIn(folder);
    if (names === undefined) {
      this.missing.add(folder);
      return { alone, names: new Set() };
    }
    // A run of its own may have begun further down.
    const taken = folder !== this.dir && names.includes(CLAIM_NAME);
    return { alone: alone && !taken, names: new Set(names.map(caseless)) };
  }

  /** True when the folder above did not have it; whoever makes it from now on sees this run's claim. */
  private async isMissing(folder: string): Promise<boolean> {
    const above = dirname(folder);
    if (folder === this.dir || above === folder) return false;
    const { names } = await this.enter(above);
    return !names.has(caseless(basename(folder)));
  }

  /** A file got its name there: the folder has to be made durable, and those above it that are new. */
  touched(folder: string): void {
    this.renamed.add(folder);
    if (this.missing.delete(folder)) this.touched(dirname(folder));
    // Those of a long run are not all left to its end; what goes wrong is told there.
    if (this.thread !== undefined && this.renamed.size >= SYNCED_TOGETHER) this.sync().catch(() => undefined);
  }

  /** Makes all names durable that were given so far. */
  sync(): Promise<void> {
    const folders = [...this.renamed];
    this.renamed.clear();
    const work =
      folders.length > 1 && this.thread !== undefined ? this.thread.sync(folders) : eachAlone(folders);
    this.syncing = Promise.all([this.syncing, work]).then(() => undefined);
    return this.syncing;
  }

  async close(): Promise<void> {
    const base = await this.base?.catch(() => undefined);
    await base?.release?.();
    await this.sync();
  }
}

async function eachAlone(folders: readonly string[]): Promise<void> {
  for await (const _ of mapAhead(folders, SYNCS_AT_ONCE, syncFolder));
}

/** What is in a folder; undefined where there is none. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
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
