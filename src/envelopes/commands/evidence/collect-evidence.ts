import { basename } from 'node:path';
import type { Envelope } from '../../../api/resource-types.ts';
import { envelopeSchema, matchesSchema } from '../../../api/schemas.ts';
import { runOf } from '../../../catalog/markers.ts';
import type { Context } from '../../../cli/session/context.ts';
import { DownloadFolder, LOCK_NAME } from '../../../documents/archive/download-folder.ts';
import type { Bucket } from '../../../documents/bucket/bucket.ts';
import { openBucketOf } from '../../../documents/commands/open-bucket.ts';
import {
  busyNotice,
  reportMissingChecksums,
  startWaitLimit,
} from '../../../documents/commands/run-download.ts';
import { sealSourceOf } from '../../../documents/commands/seal-pins.ts';
import { fetchFiles } from '../../../documents/download/fetch.ts';
import { storageKeyOf } from '../../../documents/download/locate.ts';
import type { CheckedFile } from '../../../documents/download/seals.ts';
import { targetsOf } from '../../../documents/download/targets.ts';
import { StorageError } from '../../../kernel/errors.ts';
import { stateDir } from '../../../kernel/files/paths.ts';
import { redactValue } from '../../../kernel/redaction.ts';
import { collectAll } from '../../../kernel/streams.ts';
import { DOCUMENT_KINDS } from '../../../kernel/vocabulary.ts';
import { jsonText } from '../../../output/json.ts';
import { findSealProblem, type SealedDocument } from '../../evidence/findings.ts';
import { EvidenceFolder, requireEmptyFolder } from '../../evidence/folder.ts';
import { readLoggedWrites, readReceivedWebhooks, readSentReminders } from '../../evidence/sources.ts';
import { type EvidenceDocument, type EvidenceFacts, evidencePage } from './evidence-page.ts';

export const EVIDENCE_PAGE_NAME = 'evidence.html';

/** What was written to the folder. */
export interface Evidence {
  facts: EvidenceFacts;
  documents: readonly CheckedFile[];
  /** The names of all files with their SHA-256. */
  files: ReadonlyMap<string, string>;
}

/**
 * Downloads the documents of an envelope to an empty folder and writes all other evidence next to them. The folder is locked until
 * everything is written, so that two commands can't mix the evidence of two envelopes.
 * @throws UsageError if the folder isn't empty; errors of the service and the disk. Problems of documents are part of the result.
 */
export async function collectEvidence(
  id: string,
  flags: { dir: string; wait?: number | undefined },
  context: Context,
): Promise<Evidence> {
  const { session, terminal, interrupt } = context;
  const client = await session.client();
  const envelope = await client.envelopes.get(id, interrupt.signal);
  // Without a bucket, the documents can't be fetched.
  const bucket = await openBucketOf(session);
  await requireEmptyFolder(flags.dir);
  const downloads = await DownloadFolder.open(flags.dir, {
    hasList: false,
    signal: interrupt.signal,
    onBusy: busyNotice(flags.dir, terminal),
  });
  try {
    await requireEmptyFolder(flags.dir, [LOCK_NAME]);
    const files = await terminal.waiting(`Downloading the documents for ${id}`, () =>
      fetchDocuments(bucket, downloads, envelope, flags, context),
    );
    const { existing, missing } = separateMissing(files, envelope);
    const shown = withoutSecrets(await withStorageKeys(envelope, existing, context), context);
    const documents = withFindings(existing, shown);
    const folder = new EvidenceFolder(flags.dir, jsonText);
    const facts = await writeFolder(folder, shown, { documents, missing }, context);
    return { facts, documents, files: folder.files };
  } finally {
    bucket.close();
    await downloads.close();
  }
}

/** Reads the envelope again if it doesn't name a downloaded document: the service may have added the storage keys during the wait. */
async function withStorageKeys(
  envelope: Envelope,
  files: readonly CheckedFile[],
  { session, interrupt }: Context,
): Promise<Envelope> {
  const downloaded = files.filter(({ error }) => error === undefined).map(({ result }) => result.what);
  const isNamed = DOCUMENT_KINDS.every(
    (what) => storageKeyOf(envelope, what) !== undefined || !downloaded.includes(what),
  );
  return isNamed ? envelope : (await session.client()).envelopes.get(envelope.id, interrupt.signal);
}

function withoutSecrets(envelope: Envelope, { terminal }: Context): Envelope {
  const redacted = redactValue(envelope, terminal.redactor);
  if (!matchesSchema(envelopeSchema, redacted))
    throw new StorageError('STORAGE_LOCAL', `${envelope.id} can't be saved.`);
  return redacted;
}

async function fetchDocuments(
  bucket: Bucket,
  folder: DownloadFolder,
  envelope: Envelope,
  flags: { wait?: number | undefined },
  context: Context,
): Promise<CheckedFile[]> {
  const targets = targetsOf(envelope, DOCUMENT_KINDS);
  const fetching = fetchFiles(bucket, targets, {
    ...(await startWaitLimit(targets, flags, context)),
    untilSigned: false,
    folder,
    force: false,
    concurrency: targets.length,
    sealSource: await sealSourceOf(context.session),
    savesSealedParts: true,
  });
  const files = await collectAll(fetching);
  const by = (proof: string) => files.filter(({ result }) => result.proof === proof).length;
  reportMissingChecksums({ seal: by('seal'), size: by('size') }, context.terminal);
  return files;
}

/** Separates documents that exist or should exist from those that can't exist yet, such as the signed one of an open envelope. */
function separateMissing(files: readonly CheckedFile[], { status }: Envelope) {
  const isDue = ({ result, error }: CheckedFile) =>
    error?.code !== 'STORAGE_NOT_READY' || result.what === 'document' || status === 'COMPLETED';
  const missing = files
    .filter((file) => !isDue(file))
    .map(({ result }) => ({ what: result.what ?? '', why: result.error?.message ?? '' }));
  return { existing: files.filter(isDue), missing };
}

async function writeFolder(
  folder: EvidenceFolder,
  envelope: Envelope,
  found: { documents: readonly CheckedFile[]; missing: EvidenceFacts['missing'] },
  context: Context,
): Promise<EvidenceFacts> {
  const { redactor } = context.terminal;
  const warn = (message: string) => context.terminal.notice(message);
  const { baseUrl } = await context.session.settings();
  const account = baseUrl?.value ?? '';
  const webhooks = await readReceivedWebhooks(stateDir(), envelope.id, redactor, warn);
  const reminders = await readSentReminders(stateDir(), account, envelope);
  const writes = await readLoggedWrites(stateDir(), account, { id: envelope.id, run: runOf(envelope) });
  const documents = found.documents.map((file) => factsOf(file, context));
  await folder.writeJson('envelope.json', envelope);
  await folder.writeJson('documents.json', documents);
  await folder.writeLines('webhooks.jsonl', webhooks);
  await folder.writeLines('reminders.jsonl', reminders);
  await folder.writeLines('log.jsonl', writes);
  for (const { name, sha256 } of documents) if (name !== null && sha256 !== null) folder.list(name, sha256);
  for (const { sealedPart } of found.documents)
    if (sealedPart !== null) folder.list(basename(sealedPart.path), sealedPart.sha256);
  const collection = {
    collectedAt: new Date(context.session.clock.now()).toISOString(),
    version: context.session.version,
    baseUrl: account,
  };
  const { missing } = found;
  const facts: EvidenceFacts = { envelope, documents, webhooks, reminders, writes, missing, collection };
  await folder.write(EVIDENCE_PAGE_NAME, await evidencePage(facts, folder.files));
  await folder.close();
  return facts;
}

/** Adds what a seal doesn't prove, if the seal itself has no problem. */
function withFindings(files: readonly CheckedFile[], envelope: Envelope): CheckedFile[] {
  const sealed = sealedDocuments(files);
  return files.map((file) => {
    if (file.error !== undefined || file.problem !== null) return file;
    return {
      ...file,
      problem: findSealProblem({ what: file.result.what, seal: file.seal }, sealed, envelope),
    };
  });
}

export function sealedDocuments(files: readonly CheckedFile[]): SealedDocument[] {
  return files.map(({ result: { what }, seal }) => ({ what, seal }));
}

/** Returns the facts about a document, without anything that depends on the run. */
function factsOf(
  { result, seal, sealedPart, problem }: CheckedFile,
  { terminal: { redactor } }: Context,
): EvidenceDocument {
  const { what, key, path, bytes, sha256, error } = result;
  const wrong = error ?? problem;
  return {
    what,
    key,
    name: path === null ? null : basename(path),
    bytes,
    sha256,
    seal,
    sealedPart: sealedPart === null ? null : basename(sealedPart.path),
    error: wrong && { code: wrong.code, message: redactor.redact(wrong.message) },
  };
}
