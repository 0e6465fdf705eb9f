import type { Template } from '../../../api/schemas.ts';
import { EsignCommand } from '../../../cli/command.ts';
import type { Context } from '../../../cli/context.ts';
import { noteRefusal } from '../../../cli/dry-run.ts';
import { createBody, type EnvelopeInput, newRequestId, plannedCreate } from '../../../envelopes/create.ts';
import { writeJson } from '../../../output/json.ts';
import { checkSigners, type ProblemOptions } from '../problems.ts';
import { executeCreate } from './execute.ts';
import { type CreateFlags, createFlags, preservedFlags } from './flags.ts';
import { readNewEnvelope } from './input.ts';
import { accountOf, explainCreated, renderComposition, renderCreated, withWarning } from './view.ts';

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
    const { wanted, command, isChecked } = await readNewEnvelope(flags, context);
    const requestId = flags['request-id'] ?? newRequestId();
    const body = createBody(wanted, requestId);
    const write = plannedCreate(wanted);
    const client = await context.session.client();
    if (flags['dry-run']) {
      const checked = isChecked ? undefined : await checkSigners(wanted, problemOptions(flags), context);
      // On a terminal, the user has seen the summary and chose to see the request.
      if (terminal.json || !terminal.outIsTty || isChecked)
        await writeJson({ dryRun: true, body }, terminal.hidingSecrets());
      else await showDryRun(wanted, checked?.template, flags, context);
      return noteRefusal([write], context);
    }
    const check = async () => {
      if (!isChecked) await checkSigners(wanted, problemOptions(flags), context);
      await (await client.checkWrites([write])).confirm();
    };
    const rerun = flags['request-id'] !== undefined;
    // If an earlier run created the envelope, there is nothing left to check.
    if (!rerun) await check();
    const hint = () =>
      `Run \`${command(requestId)}\`. It searches first, and creates the envelope only if it doesn't exist.`;
    const options = { requestId, rerun, check: rerun ? check : undefined, hint };
    const created = await executeCreate(client, body, options, context);
    for (const sentence of explainCreated(created)) terminal.notice(sentence);
    const out = terminal.hidingSecrets();
    if (terminal.json) return writeJson(withWarning(created), out);
    await out.out(renderCreated(created.envelope, terminal, flags.quiet));
  }
}

function problemOptions(flags: CreateFlags): ProblemOptions {
  return {
    allowMissing: flags['allow-missing-roles'],
    asks: flags['dry-run'] ? 'later' : !flags.yes,
    question: `${flags.send ? 'Create and send' : 'Create'} it anyway?`,
    otherwise: 'nothing was created',
  };
}

/** On a terminal, a dry run shows a summary instead of the request. */
async function showDryRun(
  envelope: EnvelopeInput,
  template: Template | undefined,
  flags: CreateFlags,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const options = preservedFlags(flags).filter(([name]) => name !== 'dry-run');
  const account = await accountOf(context.session);
  const requestId = flags['request-id'];
  const preview = { envelope, template, account, options, requestId, warnings: [] };
  const { columns, style } = terminal;
  const redact = (text: string) => terminal.redactor.redact(text);
  await terminal.out(`${renderComposition(preview, { columns, style, redact })}Nothing was created.\n`);
}
