import { join } from 'node:path';
import type { CommandTerminal } from '../../../cli/terminal.ts';
import { renderFile } from '../../../documents/commands/download-lines.ts';
import { sealNotice } from '../../../documents/commands/run-download.ts';
import type { CheckedFile } from '../../../documents/download/seals.ts';
import { counted } from '../../../kernel/duration.ts';
import { StorageError } from '../../../kernel/errors.ts';
import { writeJson } from '../../../output/json.ts';
import { safeLine } from '../../../output/text.ts';
import { sharedSealOf } from '../../evidence/findings.ts';
import { EVIDENCE_PAGE_NAME, type Evidence, sealedDocuments } from './collect-evidence.ts';

/** Names the certificate of the seals if nothing on this machine confirms it. */
function noteUnknownSealer(files: readonly CheckedFile[], terminal: CommandTerminal): void {
  const seal = sharedSealOf(sealedDocuments(files));
  if (seal?.trust !== 'unknown') return;
  terminal.notice(
    `The seals are by ${seal.subject ?? 'someone'} (certificate ${seal.fingerprint}), which nothing on this machine confirms. Compare it with the service's.`,
  );
}

/** Prints what the folder contains, and what speaks against it. */
export async function reportEvidence(
  { facts: { envelope, webhooks, reminders, writes, missing }, documents, files: listed }: Evidence,
  dir: string,
  terminal: CommandTerminal,
): Promise<void> {
  const { json } = terminal;
  const page = join(dir, EVIDENCE_PAGE_NAME);
  const had = documents.filter(({ error }) => error === undefined);
  if (json) {
    const files = [...listed].map(([name, sha256]) => ({ path: join(dir, name), sha256 }));
    const lines = documents.map(({ result, seal, problem }) => ({
      ...result,
      seal,
      problem,
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
    const lines = [...listed].map(([name, sha256]) => `${safeLine(join(dir, name))}\t${sha256}\n`);
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
    const limit = file.problem === null ? sealNotice(file) : undefined;
    if (limit !== undefined) terminal.notice(`${file.result.path}: ${limit}`);
  }
  noteUnknownSealer(had, terminal);
}

/** @throws the problems of the documents. */
export function throwProblems(documents: readonly CheckedFile[]): void {
  const failed = documents.find(({ error }) => error !== undefined);
  if (failed?.error !== undefined) throw failed.error;
  const wrong = documents.filter(({ problem }) => problem !== null);
  if (wrong.length === 0) return;
  const said = wrong.map(({ result, problem }) => `${result.path}: ${problem?.message}`);
  throw new StorageError('STORAGE_CORRUPT', `Don't rely on the documents in this folder. ${said.join(' ')}`, {
    hint: 'The page in the folder also lists the problems. To check the files again, run `esign documents verify DIR`.',
  });
}
