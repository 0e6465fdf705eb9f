import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { confirmFlag, dryRunFlag } from '../../cli/flags.ts';
import { UsageError } from '../../kernel/errors.ts';
import { call } from './call.ts';

export default class Api extends EsignCommand {
  static override summary = "Call any API endpoint with the profile's key.";
  static override description =
    'PATH is relative to the base URL; the key is sent nowhere else. The response is printed as received, indented on a terminal. A write is sent once: if its response is lost, the command exits with 8 and the outcome is unknown.';
  static override usage = 'api [METHOD] PATH [FLAGS]';
  static override examples = [
    '<%= config.bin %> api /esign/templates -q pageSize=5',
    "<%= config.bin %> api GET /esign/envelopes -q status=SENT --paginate | jq -r '.[].id'",
    '<%= config.bin %> api POST /esign/envelopes --body envelope.json --dry-run',
    'echo \'{"reason":"wrong template"}\' | <%= config.bin %> api POST /esign/envelopes/env_123/cancel --body -',
  ];
  static override args = {
    method: Args.string({
      description: 'GET, POST, …; defaults to GET when only PATH is given',
      ignoreStdin: true,
    }),
    path: Args.string({
      description: 'path below the base URL, such as /esign/envelopes',
      ignoreStdin: true,
    }),
  };
  static override flags = {
    query: Flags.string({
      char: 'q',
      description: 'query parameter; can be repeated',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'K=V',
    }),
    body: Flags.string({ description: 'JSON body from a file, or `-` for stdin', helpValue: 'FILE|-' }),
    paginate: Flags.boolean({ description: 'fetch all pages of a list and print one array' }),
    include: Flags.boolean({
      char: 'i',
      description: 'print the status and headers of each response to stderr',
    }),
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Api);
    const words = [args.method, args.path].filter((word) => word !== undefined);
    if (words.length === 0)
      throw new UsageError(`Missing argument path: ${Api.args.path.description ?? ''}`, {
        hint: 'See `esign api --help`.',
      });
    await call(words, { ...flags, query: flags.query }, this.context(flags));
  }
}
