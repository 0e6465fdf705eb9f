import { EsignCommand } from '../cli/command.ts';
import { printSchema } from '../cli/describe/print.ts';
import { requiredArg } from '../cli/flags.ts';

export default class Schema extends EsignCommand {
  static override summary = "Print the JSON Schema of a command's --json output.";
  static override examples = [
    '<%= config.bin %> schema envelopes get',
    '<%= config.bin %> schema envelopes list > list.schema.json',
    '<%= config.bin %> schema envelopes watch | jq ".anyOf[].description"',
  ];
  static override strict = false;
  static override args = {
    command: requiredArg('command, such as envelopes list'),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Schema);
    await printSchema(argv.map(String), this.config.root, this.context(flags).terminal);
  }
}
