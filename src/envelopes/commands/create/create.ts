import { EsignCommand } from '../../../cli/command.ts';
import { noteRefusal } from '../../../cli/dry-run.ts';
import { peopleAt } from '../../../cli/input/confirm.ts';
import { writeJson } from '../../../output/json.ts';
import { createBody, newRequestId, plannedCreate } from '../../create.ts';
import { checkSigners, confirmConcerns } from '../confirm-concerns.ts';
import { createFlags } from './create-flags.ts';
import { readNewEnvelope } from './create-input.ts';
import { accountOf, explainCreated, renderCreated, renderDryRun, withWarning } from './created-text.ts';
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
    'ID=$(<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c -q)',
    '<%= config.bin %> envelopes create --template tmpl_nda --signer a@b.c --dry-run',
  ];
  static override flags = createFlags;

  async run(): Promise<void> {
    const { flags, context, terminal } = await this.start(EnvelopesCreate);
    const { wanted, command, options, isChecked } = await readNewEnvelope(flags, context);
    const requestId = flags['request-id'] ?? newRequestId();
    const body = createBody(wanted, requestId);
    const write = plannedCreate(wanted);
    const client = await context.session.client();
    const { yes, 'dry-run': isDryRun, 'allow-missing-roles': allowMissing } = flags;
    const checkProblems = async () => {
      const found = await checkSigners(wanted, allowMissing, context);
      const people = peopleAt(wanted.signers.map(({ email }) => email));
      const question = flags.send ? `Create it and email ${people} anyway` : 'Create it anyway';
      const asking = { yes, question: isDryRun ? undefined : question, otherwise: 'nothing was created' };
      await confirmConcerns(found, asking, context);
      return found;
    };
    if (flags['dry-run']) {
      const template = isChecked ? undefined : (await checkProblems()).template;
      // On a terminal, the user has seen the summary and chose to see the request.
      if (terminal.json || !terminal.outIsTty || isChecked)
        await writeJson({ dryRun: true, body }, terminal.hidingSecrets());
      else {
        const account = await accountOf(context.session);
        await terminal.out(
          renderDryRun(
            { envelope: wanted, template, account, options, requestId: flags['request-id'] },
            terminal,
          ),
        );
      }
      return noteRefusal([write], context);
    }
    const check = async () => {
      if (!isChecked) await checkProblems();
      await (await client.checkWrites([write])).confirm();
    };
    const rerun = flags['request-id'] !== undefined;
    // If an earlier run created the envelope, there is nothing left to check.
    if (!rerun) await check();
    const hint = () =>
      `Run \`${command(requestId)}\`. It searches first, and creates the envelope only if it doesn't exist.`;
    const created = await executeCreate(
      client,
      body,
      { requestId, rerun, resumesInterrupted: !rerun, check: rerun ? check : undefined, hint },
      context,
    );
    for (const sentence of explainCreated(created)) terminal.notice(sentence);
    const out = terminal.hidingSecrets();
    if (terminal.json) return writeJson(withWarning(created), out);
    await out.out(renderCreated(created.envelope, terminal, flags.quiet));
  }
}
