import { existsSync } from 'node:fs';
import type { Client } from '../../api/client.ts';
import type { Mode } from '../../bulk/entries.ts';
import type { FileReport } from '../../bulk/rows/check-file.ts';
import type { RowDefaults } from '../../bulk/rows/row.ts';
import type { WaveSizes } from '../../bulk/waves.ts';
import type { Context } from '../../cli/context.ts';
import { readText } from '../../cli/input/files.ts';
import { secretFingerprint } from '../../kernel/digest.ts';
import { UsageError } from '../../kernel/errors.ts';
import { writeReason } from '../../kernel/files/disk-reason.ts';
import { replaceFile } from '../../kernel/files/replace-file.ts';
import { requireConnection } from '../../profiles/resolve.ts';
import { readTemplates, type Templates } from '../../rehearsal/check.ts';
import {
  type PlanFacts,
  planDifferences,
  plannedTemplates,
  planText,
  readPlan,
} from '../../rehearsal/plan-file.ts';
import type { Rehearsal } from '../../rehearsal/rehearse.ts';
import type { ReadOptions } from '../../tables/table-file.ts';
import { stopIfText } from './waves.ts';

/** The plan that a run must match. */
export interface PlanRequest {
  path: string;
  /** The maximum age of the plan, in ms. */
  maxAgeMs: number;
}

/** A list to send, and the flags that determine what is sent, and how. */
export interface RunRequest {
  file: string;
  read: ReadOptions;
  defaults: RowDefaults;
  mode: Mode;
  reserve: number;
  /** Send rows even if an earlier run has sent them. */
  again: boolean;
  /** Skip rows whose signers have signed the template or can still sign it. */
  skipExisting: boolean;
  /** Continue even if a role of the template has no signer. */
  allowMissing: boolean;
  webhookSecret: string | undefined;
  /** The number of rows in each wave, and the limits above which no further wave is sent. */
  waves: WaveSizes | undefined;
}

/** Compares a run with its plan. @throws UsageError with every difference. */
export async function requireSamePlan(
  { path, maxAgeMs }: PlanRequest,
  request: RunRequest,
  report: FileReport,
  client: Client,
  context: Context,
): Promise<void> {
  const plan = readPlan(await readText(path, 'plan'), path);
  const ids = plan.templates.map(({ id }) => id);
  const templates = await readTemplates(client, ids, context.interrupt.signal);
  const limits = { now: client.serviceClock.now(), maxAgeMs };
  const differences = planDifferences(plan, await factsOf(request, report, context), templates, limits);
  if (differences.length === 0) return;
  throw new UsageError(
    `This run differs from the plan in ${path}, so nothing was sent.\n${differences.join('\n')}`,
    {
      hint: 'Write a new plan with `esign bulk rehearse FILE --plan PLAN`.',
    },
  );
}

/** Refuses to replace a file that is not a plan, such as the list itself. @throws UsageError */
export async function requirePlanPath(path: string): Promise<void> {
  if (!existsSync(path)) return;
  try {
    readPlan(await readText(path, 'plan'), path);
  } catch (error) {
    throw new UsageError(`${path} already exists and is not a plan.`, {
      cause: error,
      hint: 'Choose a different name.',
    });
  }
}

/** Writes the plan of a rehearsal. */
export async function writePlan(
  path: string,
  request: RunRequest,
  { report, templates, result }: { report: FileReport; templates: Templates; result: Rehearsal },
  context: Context,
): Promise<void> {
  const { envelopes, signers, emails, requests, failed } = result;
  const { session } = context;
  const content = planText({
    version: session.version,
    createdAt: new Date(session.now()).toISOString(),
    ...(await factsOf(request, report, context)),
    templates: plannedTemplates(templates),
    counts: { rows: report.rows, envelopes, signers, emails, requests, failed: failed.length },
  });
  try {
    replaceFile(path, content);
  } catch (error) {
    throw new UsageError(`Can't write ${path}: ${writeReason(error)}.`, {
      cause: error,
      hint: 'Choose a different path.',
    });
  }
}

async function factsOf(
  { defaults, mode, allowMissing, skipExisting, again, waves, webhookSecret }: RunRequest,
  report: FileReport,
  { session }: Context,
): Promise<PlanFacts> {
  const { baseUrl, apiKey } = requireConnection(await session.settings());
  return {
    baseUrl,
    key: secretFingerprint(await session.readKey(apiKey)),
    rows: report.cellsFingerprint,
    flags: {
      template: defaults.templateId ?? null,
      subject: defaults.subject ?? null,
      message: defaults.message ?? null,
      'one-step': mode === 'one-step',
      'allow-missing-roles': allowMissing,
      'webhook-secret': webhookSecret === undefined ? null : secretFingerprint(webhookSecret),
      'skip-existing': skipExisting,
      again,
      waves: waves === undefined ? null : waves.sizes.join(','),
      'stop-if': waves === undefined ? null : stopIfText(waves.stopIf),
    },
  };
}
