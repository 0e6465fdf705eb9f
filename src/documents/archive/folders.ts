import { randomBytes } from 'node:crypto';
import { lstat, readdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../kernel/errors.ts';
import { syncFolder } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { isLocked, lockFile } from '../../kernel/files/lock.ts';
import { mapAhead } from '../../kernel/streams.ts';

/** The file that says whose run a folder and all below it belong to; it goes with the run. */
const CLAIM_NAME = '.esign.lock';
/** That of a run which works beside the owner: the mark is in the names of its part files, too. */
const GUEST_CLAIM = /^\.esign\.([0-9a-f]{8})\.lock$/;
const GUEST_PART = /^(.*)\.([0-9a-f]{8})\.part(?:\.json)?$/;
const SYNCS_AT_ONCE = 16;
const SYNCED_TOGETHER = 64;

/** What is known of the place where a file goes. */
export interface Place {
  /** Something of its name may be there. */
  had: boolean;
  /** Where its bytes go until it has its name. */
  part: string;
  /** No other run has that part file: what an earlier one left in it may be gone on with. */
  lasting: boolean;
}

interface Folder {
  /** No other run writes here. */
  alone: boolean;
  /** What was there when the run came, as a disk without case would tell it. */
  names: ReadonlySet<string>;
  /** Part files that a killed run has left, by the names of their files. */
  leftovers: ReadonlyMap<string, readonly string[]>;
}

/** One for all folders that are missing: of an archive there may be ten thousand. */
const EMPTY: Pick<Folder, 'names' | 'leftovers'> = { names: new Set(), leftovers: new Map() };

interface Base {
  alone: boolean;
  /** What the part files of a run that is not alone are marked with. */
  mark: string;
  release: (() => Promise<void>) | undefined;
}

/**
 * The folders a run writes to: one and those below it. The run claims the upper one; only the claim's owner goes on
 * with part files found there. Another run at the same time uses names of its own, so that neither harms the other.
 */
export class Folders {
  readonly #dir: string;
  #base: Promise<Base> | undefined;
  readonly #entries = new Map<string, Promise<Folder>>();
  /** Those that were missing when they were entered, until a file is in them. */
  readonly #missing = new Set<string>();
  readonly #renamed = new Set<string>();
  #syncing: Promise<void> = Promise.resolve();

  constructor(dir: string) {
    // As a file's folder is written.
    this.#dir = dirname(join(dir, 'file'));
  }

  /** Where a file of the run's folder, or of one below it, goes; what a killed run left of it there is removed. */
  async place(path: string): Promise<Place> {
    const { alone, names, leftovers } = await this.#enter(dirname(path));
    const { mark } = await this.#claim();
    const name = caseless(basename(path));
    if (!alone) return { had: true, part: `${path}.${mark}.part`, lasting: false };
    for (const leftover of leftovers.get(name) ?? [])
      await rm(join(dirname(path), leftover), { force: true });
    return { had: names.has(name), part: `${path}.part`, lasting: true };
  }

  /** Looks at a folder; one that is missing is not made yet. */
  #enter(folder: string): Promise<Folder> {
    let entry = this.#entries.get(folder);
    if (entry === undefined) {
      entry = this.#look(folder);
      this.#entries.set(folder, entry);
      entry.catch(() => this.#entries.delete(folder));
    }
    return entry;
  }

  async #look(folder: string): Promise<Folder> {
    const above = folder === this.#dir ? undefined : await this.#enter(dirname(folder));
    let { alone } = above ?? (await this.#claim());
    // Whoever makes a folder that is missing now sees this run's claim.
    const isThere = above === undefined || above.names.has(caseless(basename(folder)));
    if (isThere && above !== undefined) await refuseLink(folder);
    const names = isThere ? await namesIn(folder) : undefined;
    if (names === undefined) {
      this.#missing.add(folder);
      return { alone, ...EMPTY };
    }
    // A run of its own may have begun further down.
    if (above !== undefined && names.includes(CLAIM_NAME))
      alone &&= !(await isLocked(join(folder, CLAIM_NAME)));
    const leftovers = alone ? await leftoversAmong(names, folder) : new Map<string, string[]>();
    return { alone, names: new Set(names.map(caseless)), leftovers };
  }

  #claim(): Promise<Base> {
    this.#base ??= claimBase(this.#dir);
    return this.#base;
  }

  /** A file got its name there: the folder has to be made durable, and those above it that are new. */
  touched(folder: string): void {
    this.#renamed.add(folder);
    if (this.#missing.delete(folder)) this.touched(dirname(folder));
    // Those of a long run are not all left to its end; what goes wrong is told there.
    if (this.#renamed.size >= SYNCED_TOGETHER) this.sync().catch(() => undefined);
  }

  /** Makes all names durable that were given so far. */
  sync(): Promise<void> {
    const folders = [...this.#renamed];
    this.#renamed.clear();
    this.#syncing = Promise.all([this.#syncing, syncAll(folders)]).then(() => undefined);
    return this.#syncing;
  }

  /** Gives the folders free, whatever happens. */
  async close(): Promise<void> {
    try {
      await this.sync();
    } finally {
      const base = await this.#base?.catch(() => undefined);
      await base?.release?.();
    }
  }
}

async function syncAll(folders: readonly string[]): Promise<void> {
  for await (const _ of mapAhead(folders, SYNCS_AT_ONCE, syncFolder));
}

/** The run's folder may be a link, since it was named; one below it could lead anywhere. */
async function refuseLink(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => undefined);
  if (stat?.isSymbolicLink()) throw Object.assign(new Error(`${folder} is a link`), { code: 'ELOOP' });
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
function caseless(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** What killed runs have left here that no other run goes on with, by the file it is of. */
async function leftoversAmong(names: readonly string[], folder: string): Promise<Map<string, string[]>> {
  const all = new Set(names);
  const found = new Map<string, string[]>();
  const living = new Map<string, boolean>();
  for (const name of names) {
    const [, of, mark] = GUEST_PART.exec(name) ?? [];
    if (of === undefined || mark === undefined) {
      // A note whose part file has got its final name.
      const part = /^(.*)\.part\.json$/.exec(name)?.[1];
      if (part !== undefined && !all.has(`${part}.part`)) push(found, caseless(part), name);
      continue;
    }
    const lives = living.get(mark) ?? (await isClaimedFrom(folder, `.esign.${mark}.lock`));
    living.set(mark, lives);
    if (!lives) push(found, caseless(of), name);
  }
  return found;
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

async function claimBase(dir: string): Promise<Base> {
  makeFolder(dir);
  const mark = randomBytes(4).toString('hex');
  // Where it can't be had, since another run has it or the disk takes no file: nothing is gone on with there.
  const release = await claim(dir, CLAIM_NAME);
  // First the own claim, then a look at those above: of two runs at least one sees the other.
  const alone = release !== undefined && !(await isClaimedFrom(dirname(await realpath(dir)), CLAIM_NAME));
  if (alone) {
    await forgetGuests(dir);
    return { alone, mark, release };
  }
  const guest = await claim(dir, `.esign.${mark}.lock`);
  return { alone, mark, release: async () => void (await Promise.all([release?.(), guest?.()])) };
}

function claim(dir: string, name: string): Promise<(() => Promise<void>) | undefined> {
  return lockFile(join(dir, name), (pid) => new Error(pid)).catch(() => undefined);
}

/** Claims of guests that were killed. */
async function forgetGuests(dir: string): Promise<void> {
  for (const name of (await namesIn(dir)) ?? [])
    if (GUEST_CLAIM.test(name) && !(await isLocked(join(dir, name))))
      await rm(join(dir, name), { force: true });
}

/** True when a living run has claimed this folder or one above it. */
async function isClaimedFrom(start: string, name: string): Promise<boolean> {
  for (let folder = await realpath(start); ; folder = dirname(folder)) {
    if (await isLocked(join(folder, name))) return true;
    if (dirname(folder) === folder) return false;
  }
}
