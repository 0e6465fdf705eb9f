import * as Flags from '@oclif/core/flags';
import { EsignCommand } from '../../../cli/command.ts';
import { durationFlag, requiredArg } from '../../../cli/flags.ts';
import { addKnownSecrets } from '../../../cli/session/known-secrets.ts';
import { DEFAULT_WAIT_MS } from '../../../documents/download-limits.ts';
import { durationText } from '../../../kernel/duration.ts';
import { collectEvidence } from './collect-evidence.ts';
import { reportEvidence, throwProblems } from './evidence-report.ts';

export default class EnvelopesEvidence extends EsignCommand {
  static override summary = 'Export an evidence package for an envelope, for disputes and audits.';
  static override description =
    "Writes everything to one folder: the documents, the results of checking their seals, the envelope as the service returned it, the webhooks received on this machine with their signatures, the reminders sent and the writes logged on this machine, SHA256SUMS, and a page to print. The package contains no secrets. If the envelope is not completed yet, the package lists what is missing. Exits with 9 if a document can't be downloaded or verified; the folder is written anyway.";
  static override examples = [
    '<%= config.bin %> envelopes evidence env_123 --dir evidence',
    "<%= config.bin %> envelopes evidence env_123 --dir evidence --json | jq -r '.documents[].seal.state'",
    '<%= config.bin %> envelopes evidence env_123 --dir evidence --wait 5m',
  ];
  static override args = {
    id: requiredArg('envelope ID'),
  };
  static override flags = {
    dir: Flags.string({
      description: 'output folder, new or empty',
      required: true,
      helpValue: 'DIR',
    }),
    wait: durationFlag(
      '30s',
      `how long to wait for a document that is not in the bucket yet (default ${durationText(DEFAULT_WAIT_MS)})`,
    ),
  };

  async run(): Promise<void> {
    const { args, flags, context } = await this.start(EnvelopesEvidence);
    await addKnownSecrets(context);
    const evidence = await collectEvidence(args.id, flags, context);
    await reportEvidence(evidence, flags.dir, context.terminal);
    throwProblems(evidence.documents);
  }
}
