import { EsignCommand } from '../../cli/command.ts';
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

export default class Doctor extends EsignCommand {
  static override summary = 'Check your setup and show how to fix each problem.';
  static override description =
    'Checks Node, file permissions, profile, guards, API key, service, clock, rate limit, proxy, and bucket, using at most one GET request each. Changes nothing. Exits with 0 if no check fails, otherwise with the exit code of the first failure.';
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --profile acme',
    '<%= config.bin %> doctor --json | jq \'.checks[] | select(.status == "failed")\'',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor);
    const context = this.context(flags);
    const { terminal } = context;
    const out = terminal.hidingSecrets();
    const checks: DoctorCheck[] = [];
    const page = new Page((check) => out.out(renderCheck(check, terminal)));
    let first: DoctorFinding | undefined;
    for await (const finding of runChecks(doctorContextOf(context))) {
      checks.push(finding.check);
      if (finding.error !== undefined) first ??= finding;
      if (!terminal.json) await page.add(finding.check);
    }
    await page.end();
    await (terminal.json
      ? writeJson({ ok: first === undefined, checks }, out)
      : terminal.out(renderVerdict(checks, terminal)));
    // The report is the result, so no separate error is printed.
    if (first !== undefined) process.exitCode = exitCodeOf(first.error);
  }
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
    guards: async () =>
      (await import('../../cli/guards.ts')).guardsOf(await context.session.settings(), context.session),
    settings: () => context.session.settings(),
    client: () => context.session.client(),
    checkBucket: (...args) => context.terminal.waiting('Waiting for the bucket', () => probeBucket(...args)),
    contradictions: () => countContradictions(context.session),
    now: () => context.session.clock.now(),
    signal: context.interrupt.signal,
  };
}
