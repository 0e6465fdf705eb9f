import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../api/client.ts';
import type { Mode } from '../../bulk/entries.ts';
import { requestsFor, timeByWindow } from '../../bulk/estimate.ts';
import { checkFile, type FileReport, type Findings } from '../../bulk/rows/check-file.ts';
import { checkTemplates } from '../../bulk/rows/check-templates.ts';
import { earlierRunOf } from '../../bulk/run-list.ts';
import { draftRun, type OpenRun, type RunDraft } from '../../bulk/runs.ts';
import { counted, grouped } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { stateDir } from '../../kernel/files/paths.ts';
import { preferLowMemory } from '../../kernel/process/v8-flags.ts';
import { safeBlock } from '../../output/text.ts';
import { relativeTime } from '../../output/time.ts';
import type { Context } from '../context.ts';
import { confirmed } from '../input/confirm.ts';
import { type Preflight, preflightText } from './view.ts';

export interface PrepareRequest {
  file: string;
  template: string | undefined;
  mode: Mode;
  reserve: number;
  yes: boolean;
  /** Go on although an earlier run of the same rows is not at its end. */
  again: boolean;
  /** Go on although a role of the template has no signer. */
  allowMissing: boolean;
}

/** Where runs are kept. */
export function runsFolder(): string {
  return join(stateDir(), 'bulk');
}

/**
 * Checks a file whole, says what it comes to, and asks; then the run is written down, and nothing was sent yet.
 * @throws UsageError with every problem of the file, or when nobody agreed.
 */
export async function prepareRun(
  wanted: PrepareRequest,
  client: () => Promise<Client>,
  context: Context,
): Promise<OpenRun> {
  preferLowMemory();
  const draft = await draftRun(runsFolder(), context.clock.now());
  try {
    const report = await examine(wanted, draft, client, context);
    await refuseSecondRun(wanted, report, context);
    await agree(wanted, report, await client(), context);
    return await begin(draft, wanted, report, context);
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

/** Checks a file whole and returns what a run of it would come to; nothing is written down. */
export async function checkRun(
  wanted: PrepareRequest,
  client: () => Promise<Client>,
  context: Context,
): Promise<Preflight> {
  const report = await examine(wanted, undefined, client, context);
  return preflightOf(wanted, report, await client(), context);
}

async function examine(
  wanted: PrepareRequest,
  draft: RunDraft | undefined,
  client: () => Promise<Client>,
  context: Context,
): Promise<FileReport> {
  const name = wanted.file === '-' ? 'stdin' : wanted.file;
  const report = await context.waiting(`Checking ${name}`, () =>
    checkFile(
      { name, bytes: bytesOf(wanted.file, name) },
      { templateId: wanted.template, take: (row) => draft?.add(row) },
    ),
  );
  if (report.problems.count === 0) {
    const allowed = wanted.allowMissing || asksBefore(wanted, context);
    await checkTemplates(await client(), report, allowed, context.signal);
  }
  if (report.warnings.count > 0)
    context.terminal.err(safeBlock(`Look again at these:\n${linesOf(report.warnings, name).join('\n')}\n`));
  if (report.unnamed > 0) {
    const have = report.unnamed === 1 ? 'has' : 'have';
    context.notice(`${counted(report.unnamed, 'signer')} ${have} no name; the address is used as the name.`);
  }
  if (report.problems.count > 0) throw refused(report);
  return report;
}

async function* bytesOf(path: string, name: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of path === '-' ? process.stdin : createReadStream(path))
      yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
  } catch (error) {
    throw new UsageError(`Can't read ${name} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check the path and who may read it; - reads stdin.',
    });
  }
}

function linesOf(findings: Findings, name: string): string[] {
  const lines = findings.first.map(
    ({ line, column, text }) =>
      `${name}:${line}${column === '' ? '' : ` ${column}`}: ${text}${text.endsWith('?') ? '' : '.'}`,
  );
  const more = findings.count - findings.first.length;
  return more > 0 ? [...lines, `… and ${grouped(more)} more.`] : lines;
}

function refused(report: FileReport): UsageError {
  const { problems, name } = report;
  return new UsageError(
    `${counted(problems.count, 'problem')} in ${name}; nothing was sent.\n${linesOf(problems, name).join('\n')}`,
    { hint: 'Mend the file and run the same command again.' },
  );
}

/** The same command given twice must not mail everybody twice. */
async function refuseSecondRun(wanted: PrepareRequest, report: FileReport, context: Context): Promise<void> {
  const { fingerprint } = report;
  const baseUrl = (await context.settings()).baseUrl?.value ?? '';
  const earlier = await earlierRunOf(runsFolder(), { fingerprint, baseUrl });
  if (earlier === undefined) return;
  const when = relativeTime(earlier.createdAt, context.clock.now());
  // Rows with request ids of their own are never created twice.
  if (report.ownRequestIds === report.rows) return;
  if (earlier.state === 'finished' || wanted.again) {
    context.notice(`Look again: the same rows were worked on ${when} by ${earlier.id} (${earlier.state}).`);
    return;
  }
  throw new UsageError(`The same rows are the work of ${earlier.id}, begun ${when} and not at its end.`, {
    hint: `Go on with it: \`esign bulk resume ${earlier.id}\`. To begin anew all the same, add --again.`,
  });
}

function preflightOf(
  { mode, reserve }: PrepareRequest,
  report: FileReport,
  client: Client,
  context: Context,
): Preflight {
  const window = client.window?.reading();
  const requests = requestsFor(report.rows, mode);
  return {
    file: report.name,
    rows: report.rows,
    signers: report.signers,
    templates: [...report.templates.keys()],
    mode,
    requests,
    window,
    time: timeByWindow(requests, window, reserve, context.clock.now()),
    reserve,
  };
}

/** A person sees the warnings and is asked before anything is sent. */
function asksBefore({ yes }: PrepareRequest, { terminal, json }: Context): boolean {
  return terminal.canAsk && !yes && !json;
}

/** Says what a run will do. Drafts mail nobody: where nobody can be asked, only sending needs --yes. */
async function agree(
  wanted: PrepareRequest,
  report: FileReport,
  client: Client,
  context: Context,
): Promise<void> {
  const { terminal, json } = context;
  if (!json) terminal.err(preflightText(preflightOf(wanted, report, client, context), terminal));
  const isAsked = report.isIncomplete && !wanted.allowMissing;
  if (wanted.yes || (report.rows <= 1 && !isAsked)) return;
  const sends = wanted.mode !== 'draft';
  const question = sends
    ? `Send ${counted(report.rows, 'envelope')} to ${counted(report.signers, 'signer')}?`
    : `Create ${counted(report.rows, 'draft')}?`;
  await confirmed(question, { yes: !sends && !terminal.canAsk, otherwise: 'nothing was sent' }, context);
}

async function begin(
  draft: RunDraft,
  wanted: PrepareRequest,
  report: FileReport,
  context: Context,
): Promise<OpenRun> {
  const { baseUrl, profileName } = await context.settings();
  return draft.start({
    at: context.clock.now(),
    file: report.name,
    total: report.rows,
    signers: report.signers,
    mode: wanted.mode,
    baseUrl: baseUrl?.value ?? '',
    profile: profileName?.value ?? null,
    fingerprint: report.fingerprint,
    ownRequestIds: report.ownRequestIds,
  });
}
