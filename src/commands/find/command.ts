import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../cli/command.ts';
import { listFlags } from '../../cli/flags.ts';
import { selectionFlags } from '../../cli/selection/flags.ts';
import { findEnvelopes } from './run.ts';

const { search: _, ...otherFlags } = selectionFlags;

export default class Find extends EsignCommand {
  static override summary = 'Search envelopes by signer name, email address, subject, or metadata.';
  static override description =
    "Each word must match the beginning of a word in the ID, the subject, a signer's name or address, the template's name or ID, or a metadata value. Case and accents are ignored. Finished envelopes are cached on this machine, so only the first search reads all of them; see `esign index show`.";
  static override examples = [
    '<%= config.bin %> find lukasz',
    '<%= config.bin %> find rehor 1377',
    '<%= config.bin %> find lukasz@example.com --status SENT,IN_PROGRESS',
    '<%= config.bin %> find contract 1377 -q',
    '<%= config.bin %> find lukasz --run last',
  ];
  static override strict = false;
  static override args = {
    text: Args.string({
      description: 'search terms; each matches the beginning of a word',
      required: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    ...listFlags,
    ...otherFlags,
    cached: Flags.boolean({ description: 'search only the local index, without contacting the service' }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Find);
    await findEnvelopes(argv.map(String), flags, this.context(flags));
  }
}
