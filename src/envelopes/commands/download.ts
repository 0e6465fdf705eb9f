import type { Envelope } from '../../api/schemas.ts';
import { EsignCommand } from '../../cli/command.ts';
import { kindsFlag } from '../../cli/flags.ts';
import { parseNameTemplate } from '../../documents/archive/name-template.ts';
import { downloadAll, downloadFlags } from '../../documents/commands/run-download.ts';
import {
  dueKinds,
  envelopesWithoutDocuments,
  targetsOf,
  targetsOfId,
} from '../../documents/download/targets.ts';
import { knownEnvelopes } from '../../selection/select-envelopes.ts';
import { allFlag, idsOrRun, runFlag } from '../../selection/selection-flags.ts';
import { readNamedOrSelected } from './actions/named-or-selected.ts';

export default class EnvelopesDownload extends EsignCommand {
  static override summary = 'Download the signed PDF and its certificate from your bucket.';
  static override examples = [
    '<%= config.bin %> envelopes download env_123',
    '<%= config.bin %> envelopes download env_123 --what signed -o contract.pdf',
    '<%= config.bin %> envelopes download --all --dir archive',
    "<%= config.bin %> envelopes download --all --dir archive --name-template '{completedAt:yyyy-MM}/{envelopeId}.{what}.pdf'",
    '<%= config.bin %> envelopes download --run last --dir archive',
    '<%= config.bin %> envelopes list --status COMPLETED --since 30d --all -q | <%= config.bin %> envelopes download - --dir archive',
  ];
  static override strict = false;
  static override args = idsOrRun;
  static override flags = {
    what: kindsFlag({
      description: 'files to download: signed, certificate, document (default signed,certificate)',
      helpValue: 'A,B',
    }),
    ...downloadFlags,
    ...runFlag,
    all: allFlag('download the documents of all COMPLETED envelopes'),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(EnvelopesDownload);
    const context = this.context(flags);
    const layout = flags['name-template'];
    const naming = layout === undefined ? undefined : parseNameTemplate(layout, 'envelope');
    const kinds = flags.what ?? ['signed', 'certificate'];
    const leaveOut = (envelopes: readonly Envelope[]) => envelopesWithoutDocuments(envelopes, kinds);
    const { ids, selected } = await readNamedOrSelected(
      argv.map(String),
      flags,
      { leaveOut, all: ['COMPLETED'] },
      context,
    );
    const { envelopes } = await context.session.client();
    const read = (id: string) => envelopes.get(id, context.interrupt.signal);
    const known = await knownEnvelopes(selected ? [] : ids, context);
    const ofId = (id: string) => {
      const envelope = known.get(id);
      return envelope ? targetsOf(envelope, kinds) : targetsOfId(id, kinds, read);
    };
    const targets = selected
      ? [...selected.values()].flatMap((one) => targetsOf(one, dueKinds(one, kinds)))
      : ids.flatMap(ofId);
    await downloadAll(targets, flags, context, { naming });
  }
}
