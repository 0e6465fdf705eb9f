import { EsignCommand } from '../../cli/command.ts';
import { booleanFlag, optionalArg } from '../../cli/flags.ts';
import { readJsonObject } from '../../cli/input/files.ts';
import { UsageError } from '../../kernel/errors.ts';
import { writeJson } from '../../output/json.ts';

export default class SandboxFaults extends EsignCommand {
  static override summary = 'Inject faults: lost responses, 500s, faulty webhooks, tampered documents.';
  static override description =
    'Reads a JSON object from a file or stdin (`-`) and replaces the active faults. Without an argument, shows them. See docs/sandbox.md for the list.';
  static override examples = [
    '<%= config.bin %> sandbox faults',
    'echo \'{"lostReply":{"rate":0.2,"match":"POST /esign/envelopes$"}}\' | <%= config.bin %> sandbox faults -',
    'echo \'{"tamperedPaper":{"how":"replacedPage"}}\' | <%= config.bin %> sandbox faults -',
    '<%= config.bin %> sandbox faults faults.json',
    '<%= config.bin %> sandbox faults --clear',
  ];
  static override args = {
    file: optionalArg('JSON file, or `-` for stdin'),
  };
  static override flags = { clear: booleanFlag('remove all faults') };

  async run(): Promise<void> {
    const { args, flags, session, terminal } = await this.start(SandboxFaults);
    if (flags.clear && args.file !== undefined)
      throw new UsageError("A file and --clear can't be used together.", {
        hint: 'Without --clear, the file replaces all faults.',
      });
    const wanted = flags.clear
      ? {}
      : args.file === undefined
        ? undefined
        : await readJsonObject(args.file, 'faults');
    const sandbox = await session.sandbox();
    await writeJson(await sandbox.faults(wanted), terminal);
  }
}
