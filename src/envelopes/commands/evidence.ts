import { basename, join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { type Envelope, envelopeSchema, matchesSchema } from '../../api/schemas.ts';
import { runOf } from '../../catalog/markers.ts';
import { EsignCommand } from '../../cli/command.ts';
import { durationFlag, requiredArg } from '../../cli/flags.ts';
import type { Context } from '../../cli/session/context.ts';
import { addKnownSecrets } from '../../cli/session/known-secrets.ts';
import type { CommandTerminal } from '../../cli/terminal.ts';
import { DownloadFolder, LOCK_NAME } from '../../documents/archive/download-folder.ts';
import type { Bucket } from '../../documents/bucket/bucket.ts';
import { renderFile } from '../../documents/commands/download-lines.ts';
import { openBucketOf } from '../../documents/commands/open-bucket.ts';
import {
  busyNotice,
  noticeOn,
  reportMissingChecksums,
  waitingOf,
} from '../../documents/commands/run-download.ts';
import { sealSourceOf } from '../../documents/commands/seal-signers.ts';
import { fetchFiles } from '../../documents/download/fetch.ts';
import { keyOf } from '../../documents/download/locate.ts';
import type { CheckedFile } from '../../documents/download/seals.ts';
import { targetsOf } from '../../documents/download/targets.ts';
import { WAIT_MS } from '../../documents/download-limits.ts';
import { counted, durationText } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { redactValue } from '../../kernel/redaction.ts';
import { collectAll } from '../../kernel/streams.ts';
import { DOCUMENT_KINDS } from '../../kernel/vocabulary.ts';
import { jsonText, writeJson } from '../../output/json.ts';
import { safeLine } from '../../output/text.ts';
import { findingOn, type SealedDocument, sharedSealOf } from '../evidence/findings.ts';
import { EvidenceFolder, requireEmptyFolder } from '../evidence/folder.ts';
import { readLoggedWrites, readReceivedWebhooks, readSentReminders } from '../evidence/sources.ts';
import { type EvidenceDocument, type EvidenceFacts, evidencePage } from './evidence-page.ts';

export default class EnvelopesEvidence extends EsignCommand {
  static override summary = 'Export an evidence package for an envelope, for disputes and audits.';
  static override description =
    "Writes everything to one folder: the documents, the results of checking their seals, the envelope as the service returned it, the webhooks received on this machine with their signatures, the reminders sent and the writes logged on this machine, SHA256SUMS, and a page to print. The package contains no secrets. If the envelope is not completed yet, the package lists what is missing. Exits with 9 if a document can't be downloaded or verified; the folder is written anyway.";
  static override examples = [
    '<%= config.bin %> envelopes evidence env_123 --dir evidence',
    "<%= config.bin %> envelopes evidence env_123 --dir evidence --json | jq -r '.documents[].seal.state'",
    '<%= config.bin %> envelopes evidence env_123 --dir evidence --wait 5m',
  ];
  static override args = {
    id: requiredArg('envelope ID'),
  };
  static override flags = {
    dir: Flags.string({
      description: 'output folder, new or empty',
      required: true,
      helpValue: 'DIR',
    }),
    wait: durationFlag(
      '30s',
      `how long to wait for a document that is not in the bucket yet (default ${durationText(WAIT_MS)})`,
    ),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(EnvelopesEvidence);
    const { id } = args;
    const { redactor } = context.terminal;
    const { signal } = context.interrupt;
    await addKnownSecrets(context);
    const client = await context.session.client();
    const first = await client.envelopes.get(id, signal);
    // Without a bucket, the documents can't be fetched.
    const bucket = await openBucketOf(context.session);
    await requireEmptyFolder(flags.dir);
    // Locked until everything is written, so that two commands can't mix the evidence of two envelopes.
    const downloads = await DownloadFolder.open(flags.dir, {
      hasList: false,
      signal,
      onBusy: busyNotice(flags.dir, context.terminal),
    });
    try {
      await requireEmptyFolder(flags.dir, [LOCK_NAME]);
      const folder = new EvidenceFolder(flags.dir, jsonText);
      const files = await context.terminal.waiting(`Downloading the documents for ${id}`, () =>
        fetchDocuments(bucket, downloads, first, flags, context),
      );
      const { existing, missing } = separateMissing(files, first);
      // The service may have added the storage keys during the wait.
      const downloaded = existing.filter(({ error }) => error === undefined).map(({ result }) => result.what);
      const isNamed = DOCUMENT_KINDS.every(
        (what) => keyOf(first, what) !== undefined || !downloaded.includes(what),
      );
      const sent = redactValue(isNamed ? first : await client.envelopes.get(id, signal), redactor);
      if (!matchesSchema(envelopeSchema, sent))
        throw new StorageError('STORAGE_LOCAL', `${id} can't be saved.`);
      const documents = withFindings(existing, sent);
      const facts = await writeFolder(folder, sent, { documents, missing }, context);
      await report(facts, documents, folder, flags.dir, context.terminal);
      throwProblems(documents);
    } finally {
      bucket.close();
      await downloads.close();
    }
  }
}

const PAGE = 'evidence.html';

async function fetchDocuments(
  bucket: Bucket,
  folder: DownloadFolder,
  envelope: Envelope,
  flags: { wait?: number | undefined },
  context: Context,
): Promise<CheckedFile[]> {
  const targets = targetsOf(envelope, DOCUMENT_KINDS);
  const fetching = fetchFiles(bucket, targets, {
    ...(await waitingOf(targets, flags, context)),
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
  await folder.write(PAGE, await evidencePage(facts, folder.files));
  await folder.close();
  return facts;
}

/** Adds what a seal doesn't prove, if the seal itself has no problem. */
function withFindings(files: readonly CheckedFile[], envelope: Envelope): CheckedFile[] {
  const sealed = sealedDocuments(files);
  return files.map((file) => {
    if (file.error !== undefined || file.problem !== null) return file;
    return { ...file, problem: findingOn({ what: file.result.what, seal: file.seal }, sealed, envelope) };
  });
}

function sealedDocuments(files: readonly CheckedFile[]): SealedDocument[] {
  return files.map(({ result: { what }, seal }) => ({ what, seal }));
}

/** Names the certificate of the seals if nothing on this machine confirms it. */
function noteUnknownSealer(files: readonly CheckedFile[], terminal: CommandTerminal): void {
  const seal = sharedSealOf(sealedDocuments(files));
  if (seal?.trust !== 'unknown') return;
  terminal.notice(
    `The seals are by ${seal.subject ?? 'someone'} (certificate ${seal.fingerprint}), which nothing on this machine confirms. Compare it with the service's.`,
  );
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

async function report(
  { envelope, webhooks, reminders, writes, missing }: EvidenceFacts,
  documents: readonly CheckedFile[],
  folder: EvidenceFolder,
  dir: string,
  terminal: CommandTerminal,
): Promise<void> {
  const { json } = terminal;
  const page = join(dir, PAGE);
  const had = documents.filter(({ error }) => error === undefined);
  if (json) {
    const files = [...folder.files].map(([name, sha256]) => ({ path: join(dir, name), sha256 }));
    const lines = documents.map(({ result, seal, problem }) => ({
      ...result,
      seal,
      error: result.error ?? problem,
    }));
    const counts = { webhooks: webhooks.length, reminders: reminders.length, log: writes.length };
    const { id, status } = envelope;
    return writeJson(
      { envelopeId: id, status: status ?? null, dir, page, documents: lines, missing, ...counts, files },
      terminal.hidingSecrets(),
    );
  }
  if (!terminal.outIsTty) {
    const lines = [...folder.files].map(([name, sha256]) => `${safeLine(join(dir, name))}\t${sha256}\n`);
    await terminal.out(lines.join(''));
  } else {
    for (const { result, seal } of had) await terminal.out(renderFile(result, terminal, seal));
    await terminal.out(`${safeLine(page)}\n`);
  }
  const received = [counted(webhooks.length, 'webhook'), counted(reminders.length, 'reminder')].join(', ');
  terminal.notice(
    `The evidence for ${envelope.id} is in ${dir}: ${counted(had.length, 'document')}, ${received}.`,
  );
  for (const why of new Set(missing.map((one) => one.why))) terminal.notice(`Missing: ${why}`);
  for (const file of had) {
    // The problems follow in the error.
    const limit = file.problem === null ? noticeOn(file) : undefined;
    if (limit !== undefined) terminal.notice(`${file.result.path}: ${limit}`);
  }
  noteUnknownSealer(had, terminal);
}

/** @throws the problems of the documents. */
function throwProblems(documents: readonly CheckedFile[]): void {
  const failed = documents.find(({ error }) => error !== undefined);
  if (failed?.error !== undefined) throw failed.error;
  const wrong = documents.filter(({ problem }) => problem !== null);
  if (wrong.length === 0) return;
  const said = wrong.map(({ result, problem }) => `${result.path}: ${problem?.message}`);
  throw new StorageError('STORAGE_CORRUPT', `Don't rely on the documents in this folder. ${said.join(' ')}`, {
    hint: 'The page in the folder also lists the problems. To check the files again, run `esign documents verify DIR`.',
  });
}
