import { createHash } from 'node:crypto';
import { closeSync, fstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { expectsSeals, type JudgedSeal, NOT_A_PDF, type SealRule, verifySeal } from '../seal/judge.ts';
import { checkSeal } from '../seal/seal.ts';
import type { TrustedSigners } from '../seal/trust.ts';
import { type ArchiveFile, candidatesAt } from './candidates.ts';
import { type ExpectedHash, HashLists } from './lists.ts';
import { MANIFEST_NAME } from './manifest.ts';
import { beginsPdf } from './pdf-head.ts';

const CONCURRENCY = 4;

export interface VerifiedFile {
  path: string | null;
  sha256: string | null;
  /** The result of comparing the file with the hash lists; `unlisted` if no list names it. */
  list: 'ok' | 'changed' | 'missing' | 'unlisted';
  /** Null for a file that isn't a PDF. */
  seal: JudgedSeal | null;
  error: { code: string; message: string } | null;
}

export interface ArchiveVerifyOptions {
  /** The known signers. If one is pinned or required, signed documents and certificates must be sealed. */
  known: TrustedSigners;
  /** Whether files that aren't sealed PDFs fail. The unsigned original is exempt. */
  requireSeal?: boolean | undefined;
  /** Whether files that no list names fail. */
  requireList?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Verifies folders and files: compares hashes with every list that names the file, in its folder and the folders above, and checks the seal
 * of each PDF.
 * @throws UsageError if there is nothing to check.
 */
export async function* verifyDocuments(
  places: readonly string[],
  options: ArchiveVerifyOptions,
): AsyncGenerator<VerifiedFile, void, undefined> {
  const lists = new HashLists();
  const candidates: ArchiveFile[] = [];
  for (const place of places)
    for (const candidate of await candidatesAt(place, lists)) candidates.push(candidate);
  yield* mapInOrder(candidates, CONCURRENCY, (candidate) => verifyOne(candidate, lists, options));
}

async function verifyOne(
  candidate: ArchiveFile,
  lists: HashLists,
  options: ArchiveVerifyOptions,
): Promise<VerifiedFile> {
  options.signal?.throwIfAborted();
  const { path, file, folder, name } = candidate;
  const failed = (message: string, facts: Partial<VerifiedFile> = {}): VerifiedFile => ({
    path,
    sha256: null,
    list: 'changed',
    seal: null,
    ...facts,
    error: { code: 'STORAGE_CORRUPT', message },
  });
  if (file === undefined) return failed(name);
  const expected = await lists.expectedOf(file, folder);
  let opened: number | undefined;
  try {
    opened = openRegular(file);
    if (opened === undefined) return failed(`${name} is missing.`, { list: 'missing' });
    const state = stateOf(opened);
    const { sha256, isPdf } = await hashFile(opened);
    const rule = ruleFor(candidate, { isListed: expected.length > 0, isPdf }, options);
    // Uses the descriptor, so that the bytes are those whose hash was compared, even if the file was replaced in the meantime.
    const { seal, problem } = isPdf
      ? verifySeal(await checkSeal(opened), options.known, rule)
      : { seal: null, problem: rule === 'required' ? NOT_A_PDF : null };
    if (stateOf(opened) !== state)
      return failed(`${name} was changed or replaced while it was being checked.`, { sha256 });
    const other = expected.find((one) => one.sha256 !== sha256);
    if (other !== undefined) return failed(mismatch(name, other), { sha256, seal });
    const found = { path, sha256, list: expected.length === 0 ? 'unlisted' : 'ok', seal } as const;
    if (problem !== null) return { ...found, error: { ...problem, message: `${name}: ${problem.message}` } };
    return { ...found, error: problemWithList(name, found.list, options) };
  } catch (error) {
    return failed(`${name} can't be read (${diskReason(error)}).`);
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** Returns a fingerprint that changes when an open file is written to or replaced. */
function stateOf(file: number): string {
  const { size, mtimeNs, ctimeNs } = fstatSync(file, { bigint: true });
  return `${size} ${mtimeNs} ${ctimeNs}`;
}

function mismatch(name: string, { dir }: ExpectedHash): string {
  return `${name} was changed: its SHA-256 does not match ${join(dir, MANIFEST_NAME)}.`;
}

function problemWithList(
  name: string,
  list: VerifiedFile['list'],
  { requireList }: ArchiveVerifyOptions,
): VerifiedFile['error'] {
  if (list !== 'unlisted' || !requireList) return null;
  return { code: 'NOT_LISTED', message: `${name} is not in any ${MANIFEST_NAME}.` };
}

const ORIGINAL = /\.document\.pdf$/i;
const SEALED_BY_SERVICE = /(?:^|\.)(?:signed|certificate)\.pdf$/i;

function ruleFor(
  { path, isNamed }: ArchiveFile,
  { isListed, isPdf }: { isListed: boolean; isPdf: boolean },
  { requireSeal, known }: ArchiveVerifyOptions,
): SealRule {
  const name = basename(path ?? '');
  if (isListed && ORIGINAL.test(name)) return 'original';
  const isRequired = requireSeal && (isNamed || isPdf || /\.pdf$/i.test(name));
  return isRequired || (expectsSeals(known) && SEALED_BY_SERVICE.test(name)) ? 'required' : 'optional';
}

async function hashFile(file: number): Promise<{ sha256: string; isPdf: boolean }> {
  const hash = createHash('sha256');
  let isPdf: boolean | undefined;
  for await (const block of blocksOf(file)) {
    isPdf ??= beginsPdf(block);
    hash.update(block);
  }
  return { sha256: hash.digest('hex'), isPdf: isPdf ?? false };
}
