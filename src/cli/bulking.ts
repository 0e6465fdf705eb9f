import { join } from 'node:path';
import type { Client } from '../api/client.ts';
import { type BulkFile, checkedRows, type Findings } from '../bulk/file.ts';
import type { Problem } from '../bulk/row.ts';
import { BulkRun, type RowResult, resultOf } from '../bulk/run.ts';
import type { RunHead } from '../bulk/run-journal.ts';
import { Stop } from '../bulk/stop.ts';
import { newRunId, RunStore } from '../bulk/store.ts';
import { counted } from '../kernel/duration.ts';
import {
  EsignError,
  PartialError,
  ServiceError,
  StoppedError,
  sentenceOf,
  UsageError,
} from '../kernel/errors.ts';
import { writeFileAtomic } from '../kernel/files.ts';
import { stateDir } from '../kernel/paths.ts';
import { BulkProgress, preflightText, resultsCsv, summaryText } from '../output/bulk-view.ts';
import { writeJson, writeJsonLine } from '../output/json.ts';
import { safeLine } from '../output/text.ts';
import { confirm } from './prompts.ts';
import type { Surroundings } from './surroundings.ts';

const SHOWN = 50;

export interface BulkFlags {
  concurrency: number;
  'max-requests'?: number | undefined;
  'stop-on-error'?: number | undefined;
}

/** The runs of this machine. */
export function runStore(): RunStore {
  return new RunStore(stateDir());
}

/** The client for a run: it leaves the reserve to others and waits for as many rate windows as it takes. */
export function bulkClient(surroundings: Surroundings, reserve: number): Promise<Client> {
  return surroundings.client({ reserve, maxWaitMs: Number.POSITIVE_INFINITY });
}

/**
 * Checks a file and keeps its rows as a new run; nothing is sent.
 * @throws UsageError with every problem of the file.
 */
export async function prepareRun(
  file: BulkFile,
  options: { template: string | undefined; send: boolean; oneStep: boolean; keep: boolean },
  surroundings: Surroundings,
): Promise<RunHead> {
  const store = runStore();
  const at = surroundings.clock.now();
  const id = newRunId(at);
  const findings: Findings = { rows: 0, signers: 0, problems: [], warnings: [], templates: new Set() };
  const kept = options.keep ? await store.keepRows(id) : undefined;
  let ownIds = false;
  try {
    for await (const { own, ...row } of checkedRows(
      file,
      { template: options.template, runId: id },
      findings,
    )) {
      ownIds ||= own;
      if (findings.problems.length === 0) void kept?.add(row).catch(() => undefined);
    }
    for (const warning of findings.warnings.slice(0, SHOWN))
      surroundings.notice(`Look again at ${placeOf(file, warning)}.`);
    if (findings.problems.length > 0) throw refused(file, findings.problems);
    if (findings.rows === 0)
      throw new UsageError(`${file.name} has no rows.`, { hint: 'See `esign bulk template FILE`.' });
    await checkTemplates(await bulkClient(surroundings, 0), findings.templates, surroundings);
    await kept?.close();
  } catch (error) {
    await kept?.discard();
    throw error;
  }
  const { baseUrl } = await surroundings.settings();
  const { send, oneStep } = options;
  const { rows, signers } = findings;
  return {
    type: 'run',
    id,
    at,
    file: file.name,
    baseUrl: baseUrl?.value ?? '',
    rows,
    signers,
    send,
    oneStep,
    ownIds,
  };
}

function placeOf(file: BulkFile, { line, column, message }: Problem): string {
  return `${file.name}:${line}${column === undefined ? '' : ` ${column}`}: ${message}`;
}

function refused(file: BulkFile, problems: readonly Problem[]): UsageError {
  const shown = problems.slice(0, SHOWN).map((problem) => placeOf(file, problem));
  const more = problems.length > SHOWN ? [`… and ${counted(problems.length - SHOWN, 'more problem')}`] : [];
  return new UsageError(
    `${counted(problems.length, 'problem')} in ${file.name}; nothing was sent.\n${[...shown, ...more].join('\n')}`,
    { hint: 'Mend the file and run the same command again.' },
  );
}

async function checkTemplates(
  client: Client,
  ids: ReadonlySet<string>,
  surroundings: Surroundings,
): Promise<void> {
  for (const id of ids) {
    await client.templates.get(id, surroundings.signal).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
      throw new UsageError(`There is no template ${id}; nothing was sent.`, {
        hint: 'See `esign templates list`.',
      });
    });
  }
}

/** Says what a run will do, and asks where somebody can be asked. */
export async function agreeOn(
  head: RunHead,
  client: Client,
  options: { yes: boolean; dryRun: boolean },
  surroundings: Surroundings,
): Promise<void> {
  const { terminal, json } = surroundings;
  if (!json) terminal.err(preflightText(head, client.window?.reading()));
  if (options.dryRun || options.yes || head.rows <= 1) return;
  const question = head.send
    ? `Send ${counted(head.rows, 'envelope')} to ${counted(head.signers, 'signer')}?`
    : `Create ${counted(head.rows, 'draft')}?`;
  if (!terminal.canAsk)
    throw new UsageError(`${question} There is nobody to ask, and --yes is not given.`, {
      hint: 'Add --yes to the command. Nothing was sent.',
    });
  if (!(await confirm(question))) throw new UsageError('Not confirmed; nothing was sent.');
}

/** What --dry-run prints. */
export async function writePlan(head: RunHead, surroundings: Surroundings): Promise<void> {
  const plan = { dryRun: true, file: head.file, rows: head.rows, signers: head.signers, send: head.send };
  await (surroundings.json
    ? writeJson(plan, surroundings.terminal)
    : surroundings.terminal.out(
        `${safeLine(head.file)}: ${counted(head.rows, 'row')} checked, nothing was sent\n`,
      ));
}

/**
 * Starts a run, or goes on with it, and reports each row as it is settled.
 * @throws PartialError when rows failed, StoppedError when it ended before its rows did.
 */
export async function executeRun(
  id: string,
  head: RunHead | undefined,
  options: { client: Client; flags: BulkFlags; webhookSecret: string | undefined },
  surroundings: Surroundings,
): Promise<void> {
  const store = runStore();
  const { journal, state, close } = await store.open(id);
  try {
    if (head !== undefined) {
      await journal.append(head);
      state.take(head);
    }
    if (state.head === undefined)
      throw new UsageError(`There is no run ${id} on this machine.`, { hint: 'See `esign bulk list`.' });
    await checkAccount(state.head, surroundings);
    const progress = new BulkProgress(state.head, state, surroundings.terminal, surroundings.json);
    const run = new BulkRun(
      { client: options.client, head: state.head, rows: () => store.rows(id), journal, state },
      {
        concurrency: options.flags.concurrency,
        maxRequests: options.flags['max-requests'] ?? Number.POSITIVE_INFINITY,
        stopOnError: options.flags['stop-on-error'] ?? Number.POSITIVE_INFINITY,
        webhookSecret: options.webhookSecret,
        signal: surroundings.signal,
        onRow: async (result) => {
          progress.show();
          await writeRow(result, surroundings);
        },
        onOutage: (error, ms) =>
          progress.say(`${sentenceOf(error)} Trying again in ${Math.ceil(ms / 1_000)} s.`),
      },
    );
    try {
      await run.execute();
    } finally {
      progress.end();
      await writeResults(id, store);
    }
    if (!surroundings.json)
      surroundings.terminal.err(summaryText(state.head, state, join(store.folderOf(id), 'results.csv')));
    if (state.failed > 0)
      throw new PartialError(
        `${state.failed} of ${counted(state.head.rows, 'row')} failed; each is reported above.`,
        {
          hint: `See them again: \`esign bulk show ${id}\`.`,
        },
      );
  } catch (error) {
    throw error instanceof Stop ? stopped(id, error) : error;
  } finally {
    await close();
  }
}

async function checkAccount(head: RunHead, surroundings: Surroundings): Promise<void> {
  const { baseUrl } = await surroundings.settings();
  if (baseUrl?.value === head.baseUrl) return;
  throw new UsageError(
    `The run ${head.id} was started at ${head.baseUrl}, not at ${baseUrl?.value ?? 'nowhere'}.`,
    {
      hint: 'Name its profile with --profile.',
    },
  );
}

function stopped(id: string, stop: Stop): unknown {
  if (!(stop.cause instanceof EsignError)) return stop.cause;
  return new StoppedError(
    stop.code,
    `${sentenceOf(stop.cause)} The run has stopped; what was done is kept.`,
    {
      cause: stop.cause,
      hint: `Go on with it: \`esign bulk resume ${id}\`.`,
    },
  );
}

async function writeRow(result: RowResult, surroundings: Surroundings): Promise<void> {
  const { terminal, json, redactor } = surroundings;
  if (json) return writeJsonLine(result, surroundings.hidingSecrets());
  if (result.ok) {
    if (!terminal.outIsTty)
      await terminal.out(
        `${[result.row, result.requestId, result.envelopeId ?? '', result.status ?? ''].map((cell) => safeLine(String(cell))).join('\t')}\n`,
      );
    return;
  }
  terminal.err(
    `row ${result.row}: ${safeLine(redactor.redact(`${result.error?.message ?? 'failed'} (${result.error?.code ?? ''})`))}\n`,
  );
}

/** results.csv beside the run's journal: what became of each row. */
async function writeResults(id: string, store: RunStore): Promise<void> {
  let text = '';
  for await (const line of resultsCsv(resultsOf(id, store))) text += line;
  await writeFileAtomic(join(store.folderOf(id), 'results.csv'), text);
}

/** Every row of a run with what became of it so far. */
export async function* resultsOf(id: string, store: RunStore): AsyncGenerator<RowResult, void, undefined> {
  const { state } = await store.read(id);
  for await (const row of store.rows(id)) yield resultOf(id, row, state);
}

/** Rows that failed, in order. */
export async function failuresOf(id: string): Promise<RowResult[]> {
  const failures: RowResult[] = [];
  for await (const result of resultsOf(id, runStore())) if (result.error !== null) failures.push(result);
  return failures;
}

/** The run that is meant: the one named, or the latest with --last. */
export async function lastRun(id: string | undefined, last: boolean): Promise<string> {
  if ((id === undefined) === !last)
    throw new UsageError('Name one run, or take the latest with --last.', { hint: 'See `esign bulk list`.' });
  if (id !== undefined) return id;
  for await (const run of runStore().list()) return run.id;
  throw new UsageError('There are no runs on this machine yet.', {
    hint: 'Start one: `esign bulk create FILE --template ID`.',
  });
}
