import { EsignCommand } from '../cli/command.ts';
import { runDoctor } from '../cli/doctor/run.ts';

export default class Doctor extends EsignCommand {
  static override summary = 'Check everything a command rests on, with the fix beside each failure.';
  static override description =
    'Looks at Node, file permissions, profile, key, service, clock, rate limit, proxy and bucket with one read each, and changes nothing. Exits with 0 when all is well, else with the exit code of the first failure.';
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
