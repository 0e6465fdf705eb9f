import type { Check, Finding } from '../../doctor/check.ts';
import type { Patient } from '../../doctor/context.ts';
import { examine } from '../../doctor/doctor.ts';
import { probeBucket } from '../../documents/bucket/probe.ts';
import { configDir, stateDir } from '../../kernel/paths.ts';
import { writeJson } from '../../output/json.ts';
import { storePath } from '../../profiles/store.ts';
import type { Context } from '../context.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { renderCheck, renderVerdict } from './view.ts';

/**
 * `esign doctor`: the whole page, then the exit code of the first failure. The report is the result,
 * so there is no error beside it.
 */
export async function runDoctor(context: Context): Promise<void> {
  const { terminal, json } = context;
  const out = context.hidingSecrets();
  const checks: Check[] = [];
  let first: Finding | undefined;
  for await (const finding of examine(patientOf(context))) {
    checks.push(finding.check);
    if (finding.error !== undefined) first ??= finding;
    if (!json) await out.out(renderCheck(finding.check, terminal));
  }
  await (json
    ? writeJson({ ok: first === undefined, checks }, out)
    : terminal.out(renderVerdict(checks, terminal)));
  if (first !== undefined) process.exitCode = exitCodeOf(first.error);
}

function patientOf(context: Context): Patient {
  const folder = configDir();
  return {
    nodeVersion: process.version,
    platform: process.platform,
    env: process.env,
    configDir: folder,
    stateDir: stateDir(),
    storeFile: storePath(folder),
    settings: () => context.settings(),
    client: () => context.client(),
    checkBucket: (...args) => context.waiting('Waiting for the bucket', () => probeBucket(...args)),
    now: () => context.clock.now(),
    signal: context.signal,
  };
}
