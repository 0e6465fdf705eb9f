import { EsignCommand } from '../../cli/command.ts';
import { requiredArg } from '../../cli/flags.ts';
import { DAY_MS, durationInWords } from '../../kernel/duration.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { UsageError } from '../../kernel/errors.ts';
import { MAX_ADVANCE_DAYS } from '../../kernel/vocabulary.ts';
import { writeJson } from '../../output/json.ts';
import { indented } from '../../output/table.ts';
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
    if (ms > MAX_ADVANCE_DAYS * DAY_MS)
      throw new UsageError(`The clock can't be advanced by ${args.time}.`, {
        hint: `Advance it by at most ${MAX_ADVANCE_DAYS}d at a time.`,
      });
    const sandbox = await session.sandbox();
    const now = await sandbox.advance(ms);
    if (terminal.json) return writeJson({ now }, terminal);
    const text = `Advanced the clock by ${durationInWords(ms)}. It is now ${exactTime(now)} in the sandbox.`;
    await terminal.out(`${indented(text, 0, terminal)}\n`);
  }
}
