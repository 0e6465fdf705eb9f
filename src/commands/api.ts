import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { call } from '../cli/api/call.ts';
import { EsignCommand } from '../cli/command.ts';
import { dryRunFlag } from '../cli/flags.ts';

export default class Api extends EsignCommand {
  static override summary = "Call the service directly, with the profile's key.";
  static override description =
    'PATH is relative to the base URL; the key goes nowhere else. The reply is printed as received, indented on a terminal. A write is sent once: when its reply is lost, exit code 8 says that the outcome is not known.';
  static override usage = 'api [METHOD] PATH [FLAGS]';
  static override examples = [
    '<%= config.bin %> api /esign/templates -q pageSize=5',
    "<%= config.bin %> api GET /esign/envelopes -q status=SENT --paginate | jq -r '.[].id'",
    '<%= config.bin %> api POST /esign/envelopes --body envelope.json --dry-run',
    'echo \'{"reason":"wrong template"}\' | <%= config.bin %> api POST /esign/envelopes/env_123/cancel --body -',
  ];
  static override args = {
    method: Args.string({
      description: 'GET, POST, …; GET when only PATH is given',
      required: true,
      ignoreStdin: true,
    }),
    path: Args.string({ description: 'below the base URL, such as /esign/envelopes', ignoreStdin: true }),
  };
  static override flags = {
    query: Flags.string({
      char: 'q',
      description: 'a query parameter; repeat for more',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'K=V',
    }),
    body: Flags.string({ description: 'JSON body from a file, or - for stdin', helpValue: 'FILE|-' }),
    paginate: Flags.boolean({ description: 'all pages of a list, as one array' }),
    include: Flags.boolean({ char: 'i', description: 'show status and headers of each reply on stderr' }),
    'dry-run': dryRunFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Api);
    const words = args.path === undefined ? [args.method] : [args.method, args.path];
    await call(words, { ...flags, query: flags.query }, this.context(flags));
  }
}
