import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { notRecorded } from '../../journal/failures.ts';
import { Journal } from '../../journal/journal.ts';
import { scan } from '../../journal/scan.ts';
import type { Clock } from '../../kernel/clock.ts';
import { shortDigest } from '../../kernel/digest.ts';
import { UsageError } from '../../kernel/errors.ts';
import { privateFolder } from '../../kernel/files/files.ts';
import { isLocked, lockFile } from '../../kernel/files/lock.ts';

const at = z.number();
const entrySchema = z.discriminatedUnion('type', [
  /** Written before the new envelope is requested. */
  z.object({ type: z.literal('asked'), at, account: z.string(), old: z.string(), requestId: z.string() }),
  /** It was certainly not created. */
  z.object({ type: z.literal('refused'), at }),
  z.object({ type: z.literal('made'), at, id: z.string() }),
  z.object({ type: z.literal('cancelled'), at }),
  z.object({ type: z.literal('sent'), at }),
]);
type Entry = z.infer<typeof entrySchema>;

const FORMAT = {
  kind: 'replacement',
  version: 1,
  read: (value: unknown) => entrySchema.safeParse(value).data,
};

const RETENTION_MS = 30 * 86_400_000;
/** How long to wait for another process that replaces the same envelope, in ms. */
const LOCK_TIMEOUT_MS = 60_000;

/** The recorded progress of replacing an envelope. */
export interface ReplaceProgressRecord {
  requestId?: string;
  /** When it was requested (ms since the epoch), while the outcome is unknown. */
  askedAt?: number;
  madeId?: string;
}

/** The record of replacing one envelope, locked by this process. */
export interface ReplaceRecord {
  readonly known: ReplaceProgressRecord;
  /** The record is on disk when this resolves. */
  asked(requestId: string): Promise<void>;
  note(
    entry: { type: 'refused' } | { type: 'made'; id: string } | { type: 'cancelled' } | { type: 'sent' },
  ): Promise<void>;
  close(): Promise<void>;
}

function fileFor(folder: string, account: string, old: string): string {
  return join(folder, `${shortDigest(`${account}\n${old}`)}.jsonl`);
}

/**
 * Opens the record of replacing `old` in an account (a base URL), and removes records older than 30 days. Waits for another
 * process that replaces the same envelope.
 * @throws UsageError if the wait takes too long, or the folder can't be written.
 */
export async function openReplaceRecord(
  folder: string,
  account: string,
  old: string,
  clock: Clock,
): Promise<ReplaceRecord> {
  const path = fileFor(folder, account, old);
  const release = await takeTurn(folder, `${path}.lock`, old, clock);
  try {
    await forgetOld(folder, clock.now());
    const known: ReplaceProgressRecord = {};
    const journal = await Journal.open<Entry>({ path, format: FORMAT, damaged: 'skip' }, (entry) =>
      apply(known, entry),
    );
    const append = async (entry: Entry) => {
      await journal.append(entry);
      apply(known, entry);
    };
    return {
      known,
      asked: (requestId) => append({ type: 'asked', at: clock.now(), account, old, requestId }),
      note: (entry) => append({ ...entry, at: clock.now() }),
      async close() {
        await journal.close();
        // Nothing was recorded: the ID doesn't exist, or nothing was to be done.
        if (known.requestId === undefined && known.madeId === undefined) await rm(path, { force: true });
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Reads the record, even while another process writes it. */
export async function readReplaceRecord(
  folder: string,
  account: string,
  old: string,
): Promise<ReplaceProgressRecord> {
  const known: ReplaceProgressRecord = {};
  const reading = { path: fileFor(folder, account, old), format: FORMAT, damaged: 'skip' } as const;
  await scan<Entry>(reading, (entry) => apply(known, entry));
  return known;
}

function apply(known: ReplaceProgressRecord, entry: Entry): void {
  if (entry.type === 'asked')
    Object.assign(known, { requestId: entry.requestId, askedAt: entry.at, madeId: undefined });
  else if (entry.type === 'made') Object.assign(known, { madeId: entry.id, askedAt: undefined });
  else if (entry.type === 'refused') delete known.askedAt;
}

async function takeTurn(
  folder: string,
  path: string,
  old: string,
  clock: Clock,
): Promise<() => Promise<void>> {
  const busy = (pid: string) =>
    new UsageError(`Another esign process (${pid}) is replacing ${old}.`, {
      hint: 'Run the command again when it has finished.',
    });
  try {
    await privateFolder(folder);
    return await lockFile(path, busy, { waitMs: LOCK_TIMEOUT_MS, clock });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw notRecorded(`The progress can't be recorded in ${folder}`, error);
  }
}

async function forgetOld(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!name.endsWith('.jsonl') || (await isLocked(`${path}.lock`))) continue;
    const file = await stat(path).catch(() => undefined);
    if (file !== undefined && now - file.mtimeMs > RETENTION_MS) await rm(path, { force: true });
  }
}
