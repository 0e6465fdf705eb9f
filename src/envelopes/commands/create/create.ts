import { EsignCommand } from '../../../cli/command.ts';
import { createBody, newRequestId } from '../../../once/create-body.ts';
import { writeJson } from '../../../output/json.ts';
import { confirmCreate, showRequest } from './confirm-create.ts';
import { createFlags } from './create-flags.ts';
import { readNewEnvelope } from './create-input.ts';
import { envelopeWithWarning, explainCreated, refuseOthers, renderCreated } from './created-text.ts';
import { executeCreate } from './execute-create.ts';

export default class EnvelopesCreate extends EsignCommand {
  static override summary = 'Create an envelope from a template, as a draft or sent immediately.';
  static override description =
    "A signer is an email address with options: a@b.c, 'Ada Lovelace <a@b.c>', or 'Ada Lovelace <a@b.c>;role=Tenant;order=1'. On a terminal, you are prompted for anything the flags leave out. Running the command again with the same --request-id never creates a second envelope.";
  static override examples = [
    '<%= config.bin %> envelopes create',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c',
    "<%= config.bin %> envelopes create --template tmpl_lease --signer 'Ada Lovelace <ada@example.com>;role=Tenant' --signer 'Bo Li <bo@example.com>;role=Landlord' --send",
    '<%= config.bin %> envelopes create --template tmpl_nda --signers-file signers.csv --metadata deal=4711 --request-id deal-4711',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c --send -q',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c --dry-run',
  ];
  static override flags = createFlags;

  async run(): Promise<void> {
    const { flags, context, terminal } = await this.start(EnvelopesCreate);
    const given = await readNewEnvelope(flags, context);
    if (flags['dry-run']) return showRequest(given, flags, context);
    const isGiven = flags['request-id'] !== undefined;
    const check = () => confirmCreate(given, flags, context);
    // If an earlier run created the envelope, there is nothing left to check.
    if (!isGiven) await check();
    const requestId = flags['request-id'] ?? newRequestId();
    const created = await executeCreate(
      createBody(given.envelope, requestId),
      {
        requestId,
        isGiven,
        check: isGiven ? check : undefined,
        hint: () =>
          `Run \`${given.command(requestId)}\`. It searches first, and creates the envelope only if it doesn't exist.`,
      },
      context,
    );
    for (const sentence of explainCreated(created)) terminal.notice(sentence);
    const out = terminal.hidingSecrets();
    if (terminal.json) await writeJson(envelopeWithWarning(created), out);
    else await out.out(renderCreated(created, terminal, flags.quiet));
    refuseOthers(created);
  }
}
