import type { Context } from '../../cli/context.ts';
import { exitCodeOf } from '../../cli/exit-codes.ts';
import type { Session } from '../../cli/session.ts';
import { readRecord } from '../../compatibility/record.ts';
import { reportOf } from '../../compatibility/report.ts';
import type { DoctorCheck, DoctorFinding } from '../../doctor/check.ts';
import type { DoctorContext } from '../../doctor/context.ts';
import { runChecks } from '../../doctor/doctor.ts';
import { probeBucket } from '../../documents/bucket/probe.ts';
import { counted } from '../../kernel/duration.ts';
import { configDir, stateDir } from '../../kernel/files/paths.ts';
import { writeJson } from '../../output/json.ts';
import { storePath } from '../../profiles/store.ts';
import { renderCheck, renderVerdict } from './view.ts';

/**
 * Runs `esign doctor`: prints all checks, then exits with the code of the first failure. The report is the result, so no separate
 * error is printed.
 */
export async function runDoctor(context: Context): Promise<void> {
  const { terminal } = context;
  const { json } = terminal;
  const out = context.terminal.hidingSecrets();
  const checks: DoctorCheck[] = [];
  const page = new Page((check) => out.out(renderCheck(check, terminal)));
  let first: DoctorFinding | undefined;
  for await (const finding of runChecks(doctorContextOf(context))) {
    checks.push(finding.check);
    if (finding.error !== undefined) first ??= finding;
    if (!json) await page.add(finding.check);
  }
  await page.end();
  await (json
    ? writeJson({ ok: first === undefined, checks }, out)
    : terminal.out(renderVerdict(checks, terminal)));
  if (first !== undefined) process.exitCode = exitCodeOf(first.error);
}

/** Prints checks as they arrive. Consecutive checks that were skipped for the same reason are printed as one line. */
class Page {
  readonly #write: (check: DoctorCheck) => Promise<void>;
  #pending: DoctorCheck[] = [];

  constructor(write: (check: DoctorCheck) => Promise<void>) {
    this.#write = write;
  }

  async add(check: DoctorCheck): Promise<void> {
    if (this.#pending[0]?.message !== check.message) await this.end();
    if (check.status === 'skipped') this.#pending.push(check);
    else await this.#write(check);
  }

  async end(): Promise<void> {
    const [first, ...others] = this.#pending;
    this.#pending = [];
    if (first === undefined) return;
    const more = others.length > 0 ? ` (and for ${counted(others.length, 'other check')})` : '';
    await this.#write({ ...first, message: `${first.message}${more}` });
  }
}

async function countContradictions(session: Session): Promise<number> {
  const notes = await session.shapeNotes();
  if (notes === undefined) return 0;
  await notes.write();
  const record = await readRecord(notes.path);
  return record === 'newer' ? 0 : reportOf(record).contradictions.length;
}

function doctorContextOf(context: Context): DoctorContext {
  const folder = configDir();
  return {
    nodeVersion: process.version,
    platform: process.platform,
    env: process.env,
    configDir: folder,
    stateDir: stateDir(),
    storeFile: storePath(folder),
    guards: async () => (await import('../../cli/guards.ts')).guardsOf(context.session),
    settings: () => context.session.settings(),
    client: () => context.session.client(),
    checkBucket: (...args) => context.terminal.waiting('Waiting for the bucket', () => probeBucket(...args)),
    contradictions: () => countContradictions(context.session),
    now: () => context.session.clock.now(),
    signal: context.interrupt.signal,
  };
}
