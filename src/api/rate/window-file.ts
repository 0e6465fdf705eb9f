import { closeSync, fstatSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { accountOf } from '../../kernel/digest.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { replaceFile } from '../../kernel/files/replace-file.ts';
import { parseJson } from '../../kernel/json.ts';

/** The window in which requests are counted: one found by a probe, the one that resets at this time, or the one after it. */
const windowSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('probe'), sentAt: z.number() }),
  z.object({ kind: z.literal('until'), resetAt: z.number() }),
  z.object({ kind: z.literal('after'), resetAt: z.number() }),
]);
export type Window = z.infer<typeof windowSchema>;

/** The known state of a rate window. Times in ms since the epoch. */
const stateSchema = z.object({
  window: windowSchema,
  limit: z.number(),
  /** Undefined between the reset of the previous window and the first response in this one. */
  resetAt: z.optional(z.number()),
  /** Requests in this window that esign on this machine did not send, as far as responses show. */
  foreign: z.number(),
  /** When this state was written, in ms since the epoch. */
  writtenAt: z.number(),
});
export type RateState = z.infer<typeof stateSchema>;

/** Returns the name of the window, which is the same in every process. */
export function nameOf(window: Window): string {
  return `${window.kind}-${window.kind === 'probe' ? window.sentAt : window.resetAt}`;
}

/** The file that counts the requests of a window, with its last known size. */
interface OpenCount {
  window: string;
  file: number;
  size?: number;
}

/** How long the state read from the file is reused, in ms. */
const FRESH_MS = 20;

/**
 * A counter in files shared by all processes. One byte is appended per request, so the file's size is the count and no lock is
 * needed. A small second file contains the state of the window. If the folder can't be used, each process counts on its own. Never throws.
 */
export class WindowFile {
  readonly #folder: string;
  readonly #name: string;
  readonly #alone = new Map<string, number>();
  #open: OpenCount | undefined;
  #state: RateState | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  /** `folder` is in the user's state folder. File names contain a digest of the key. */
  constructor(folder: string, baseUrl: string, apiKey: string) {
    this.#folder = folder;
    this.#name = accountOf(baseUrl, apiKey);
  }

  read(): RateState | undefined {
    // Monotonic and, unlike `performance`, already loaded.
    const now = process.uptime() * 1_000;
    if (now - this.#readAt < FRESH_MS) return this.#state;
    this.#readAt = now;
    try {
      this.#state = stateSchema.parse(parseJson(readFileSync(this.#path('json'), 'utf8')));
    } catch {
      // The file doesn't exist yet or has another version.
    }
    return this.#state;
  }

  write(state: RateState): void {
    const name = nameOf(state.window);
    const isNew = this.#state === undefined || nameOf(this.#state.window) !== name;
    this.#state = state;
    try {
      replaceFile(this.#path('json'), JSON.stringify(state));
      if (isNew) this.#removeOthers(name);
    } catch {
      // This process counts on its own.
    }
  }

  count(window: string): number {
    const open = this.#openOf(window);
    return open === undefined ? (this.#alone.get(window) ?? 0) : sizeOf(open);
  }

  /** Returns the count that this process saw last, which is a lower bound. Reads the disk only the first time. */
  countedBefore(window: string): number {
    return this.#openOf(window)?.size ?? this.count(window);
  }

  /** Counts one more request and returns the new count. */
  add(window: string): number {
    const open = this.#openOf(window);
    if (open !== undefined) {
      try {
        writeSync(open.file, '.');
        return sizeOf(open);
      } catch {
        // The disk is full, so this process counts on its own from here.
        this.#alone.set(window, sizeOf(open));
      }
    }
    const count = (this.#alone.get(window) ?? 0) + 1;
    this.#alone.set(window, count);
    return count;
  }

  #openOf(window: string): OpenCount | undefined {
    if (this.#alone.has(window)) return undefined;
    if (this.#open?.window === window) return this.#open;
    try {
      if (this.#open) closeSync(this.#open.file);
      this.#open = undefined;
      makeFolder(this.#folder, 0o700);
      this.#open = { window, file: openSync(this.#path(`${window}.count`), 'a', 0o600) };
    } catch {
      return undefined;
    }
    return this.#open;
  }

  #removeOthers(window: string): void {
    const present = basename(this.#path(`${window}.count`));
    for (const name of readdirSync(this.#folder)) {
      const isCount = name.startsWith(`${this.#name}.`) && name.endsWith('.count');
      if (isCount && name !== present) rmSync(join(this.#folder, name), { force: true });
    }
  }

  #path(end: string): string {
    return join(this.#folder, `${this.#name}.${end}`);
  }
}

function sizeOf(open: OpenCount): number {
  open.size = fstatSync(open.file).size;
  return open.size;
}
