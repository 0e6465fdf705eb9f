import { examine } from '../doctor/doctor.ts';
import type { Check, Finding } from '../doctor/finding.ts';
import type { Patient } from '../doctor/patient.ts';
import { probeBucket } from '../documents/bucket-probe.ts';
import { configDir, stateDir } from '../kernel/paths.ts';
import { renderCheck, renderVerdict } from '../output/doctor-view.ts';
import { writeJson } from '../output/json.ts';
import { storePath } from '../profiles/store.ts';
import { exitCodeOf } from './exit-codes.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * `esign doctor`: the whole page, then the exit code of the first failure. The report is the result,
 * so there is no error beside it.
 */
export async function runDoctor(around: Surroundings): Promise<void> {
  const { terminal, json } = around;
  const out = around.hidingSecrets();
  const checks: Check[] = [];
  let first: Finding | undefined;
  for await (const finding of examine(patientOf(around))) {
    checks.push(finding.check);
    if (finding.error !== undefined) first ??= finding;
    if (!json) await out.out(renderCheck(finding.check, terminal));
  }
  await (json
    ? writeJson({ ok: first === undefined, checks }, out)
    : terminal.out(renderVerdict(checks, terminal)));
  if (first !== undefined) process.exitCode = exitCodeOf(first.error);
}

function patientOf(around: Surroundings): Patient {
  const folder = configDir();
  return {
    nodeVersion: process.version,
    platform: process.platform,
    env: process.env,
    configDir: folder,
    stateDir: stateDir(),
    storeFile: storePath(folder),
    settings: () => around.settings(),
    client: () => around.client(),
    checkBucket: probeBucket,
    now: () => around.clock.now(),
    signal: around.signal,
  };
}
