import { EsignCommand } from '../../cli/command.ts';
import { runDoctor } from './run.ts';

export default class Doctor extends EsignCommand {
  static override summary = 'Check your setup and show how to fix each problem.';
  static override description =
    'Checks Node, file permissions, profile, API key, service, clock, rate limit, proxy, and bucket, using at most one GET request each. Changes nothing. Exits with 0 if no check fails, otherwise with the exit code of the first failure.';
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --profile acme',
    '<%= config.bin %> doctor --json | jq \'.checks[] | select(.status == "failed")\'',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor);
    await runDoctor(this.context(flags));
  }
}
