import type { Envelope } from '../../api/resource-types.ts';
import { EsignCommand } from '../../cli/command.ts';
import { kindsFlag } from '../../cli/flags.ts';
import type { Context } from '../../cli/session/context.ts';
import { parseNameTemplate } from '../../documents/archive/file-name-template.ts';
import { downloadAll, downloadFlags } from '../../documents/commands/run-download.ts';
import type { FileTarget } from '../../documents/download/locate.ts';
import {
  dueKinds,
  envelopesWithoutDocuments,
  targetsOf,
  targetsOfId,
} from '../../documents/download/targets.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import { knownEnvelopes } from '../../selection/select-envelopes.ts';
import { allFlag, idsOrRun, runFlag } from '../../selection/selection-flags.ts';
import { readNamedOrSelected } from './actions/named-or-selected.ts';

export default class EnvelopesDownload extends EsignCommand {
  static override summary = 'Download the signed PDF and its certificate from your bucket.';
  static override examples = [
    '<%= config.bin %> envelopes download env_123',
    '<%= config.bin %> envelopes download env_123 --what signed -o contract.pdf',
    '<%= config.bin %> envelopes download --all --dir archive',
    "<%= config.bin %> envelopes download --all --dir archive --name-template '{signer}/{envelopeId}.{what}.pdf'",
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
    const selecting = { leaveOut, all: ['COMPLETED'] as const };
    const { ids, selected } = await readNamedOrSelected(argv.map(String), flags, selecting, context);
    const targets = selected
      ? [...selected.values()].flatMap((one) => targetsOf(one, dueKinds(one, kinds)))
      : await targetsOfIds(ids, kinds, context);
    await downloadAll(targets, flags, context, { naming });
  }
}

/** Returns the files of envelopes by their IDs. Those that the index doesn't know as final are read when it is their turn. */
async function targetsOfIds(
  ids: readonly string[],
  kinds: readonly DocumentKind[],
  context: Context,
): Promise<FileTarget[]> {
  const { envelopes } = await context.session.client();
  const read = (id: string) => envelopes.get(id, context.interrupt.signal);
  const known = await knownEnvelopes(ids, context);
  return ids.flatMap((id) => {
    const envelope = known.get(id);
    return envelope ? targetsOf(envelope, kinds) : targetsOfId(id, kinds, read);
  });
}
