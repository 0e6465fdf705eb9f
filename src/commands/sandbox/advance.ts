import { EsignCommand } from '../../cli/command.ts';
import { requiredArg } from '../../cli/flags.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { writeJson } from '../../output/json.ts';
import { exactTime } from '../../output/time.ts';

export default class SandboxAdvance extends EsignCommand {
  static override summary = 'Advance the sandbox clock: envelopes expire and webhooks are retried.';
  static override examples = [
    '<%= config.bin %> sandbox advance 31d',
    '<%= config.bin %> sandbox advance 2h',
    '<%= config.bin %> sandbox advance 90s --json',
  ];
  static override args = {
    time: requiredArg('how far to advance: 90s, 2h, 31d'),
  };

  async run(): Promise<void> {
    const { args, session, terminal } = await this.start(SandboxAdvance);
    const ms = readDuration(args.time, '', 1);
    const sandbox = await session.sandbox();
    const now = await sandbox.advance(ms);
    if (terminal.json) return writeJson({ now }, terminal);
    await terminal.out(
      `Advanced the clock by ${durationInWords(ms)}. It is now ${exactTime(now)} in the sandbox.\n`,
    );
  }
}
