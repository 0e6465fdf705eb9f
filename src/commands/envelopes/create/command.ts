import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import type { Client } from '../../../api/client.ts';
import type { CreateEnvelopeBody } from '../../../api/resources.ts';
import type { Template } from '../../../api/schemas.ts';
import { EsignCommand } from '../../../cli/command.ts';
import type { CommonFlags, Context } from '../../../cli/context.ts';
import { noteRefusal } from '../../../cli/dry-run.ts';
import {
  booleanFlag,
  confirmFlag,
  dryRunFlag,
  inGroup,
  messageFileFlag,
  missingRolesFlag,
  numberFlag,
  readFlags,
  repeatedTextFlag,
  textFlag,
  yesFlag,
} from '../../../cli/flags.ts';
import { readJsonObject, readMessage } from '../../../cli/input/files.ts';
import { readPairs } from '../../../cli/input/pairs.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import { rebuildCommand } from '../../../cli/rerun.ts';
import { withOutcomeCheck } from '../../../cli/write.ts';
import { createBody, type EnvelopeInput, newRequestId, plannedCreate } from '../../../envelopes/create.ts';
import { type Created, type CreateOptions, createEnvelope } from '../../../envelopes/create-once.ts';
import { requestIdsIn } from '../../../envelopes/request-ids/request-ids.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { stateDir } from '../../../kernel/files/paths.ts';
import { LIMITS, REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';
import { writeJson } from '../../../output/json.ts';
import { checkSigners, type ProblemOptions } from '../problems.ts';
import { readSigners } from './signers.ts';
import {
  accountOf,
  equivalentCommand,
  explainCreated,
  renderComposition,
  renderCreated,
  withWarning,
} from './view.ts';
import { ownSecret } from './webhook-secret.ts';

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
  static override flags = {
    template: textFlag('ID', 'template to use'),
    ...inGroup('SIGNER', {
      signer: repeatedTextFlag('SIGNER', 'signer; can be repeated, up to 20 times'),
      'signers-file': textFlag('FILE', 'signers as CSV or .xlsx (email,name,role,order), or JSON'),
    }),
    encoding: { ...readFlags.encoding, dependsOn: ['signers-file'] },
    sheet: { ...readFlags.sheet, dependsOn: ['signers-file'] },
    ...inGroup('EMAIL', {
      subject: textFlag('TEXT', 'email subject'),
      message: textFlag('TEXT', 'email message', { exclusive: ['message-file'] }),
    }),
    'message-file': messageFileFlag,
    metadata: repeatedTextFlag('K=V', 'key=value stored with the envelope; can be repeated'),
    'metadata-file': textFlag('FILE', 'read metadata from a JSON file'),
    ...inGroup('WEBHOOK', {
      'webhook-url': textFlag('URL', 'URL to deliver webhook events to'),
      'webhook-secret-file': textFlag(
        'FILE',
        'file with the secret that signs the webhooks (or set ESIGN_WEBHOOK_SECRET; default: a new one, stored for `listen`)',
      ),
    }),
    'expires-in-days': numberFlag(`days until it expires (default ${LIMITS.expiresInDays})`, { min: 1 }),
    'signing-order': Flags.string({
      description: 'one signer after the other, or all at the same time',
      options: ['sequential', 'parallel'],
      helpValue: 'sequential|parallel',
      helpGroup: 'SIGNER',
    }),
    send: booleanFlag('send the envelope to its signers immediately'),
    'request-id': textFlag('KEY', 'idempotency key: the same ID never creates a second envelope'),
    'allow-missing-roles': missingRolesFlag,
    quiet: booleanFlag('print only the envelope ID', { char: 'q', exclusive: ['json'] }),
    yes: yesFlag,
    confirm: confirmFlag,
    'dry-run': dryRunFlag,
  };

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

type CreateFlags = InferredFlags<typeof EnvelopesCreate.flags> & CommonFlags;

/** Creates a planned envelope, with a webhook secret if it needs one. When interrupted, reports that it may exist. */
export async function executeCreate(
  client: Client,
  body: CreateEnvelopeBody,
  options: Pick<CreateOptions, 'rerun' | 'check'> & { requestId: string; hint: () => string },
  context: Context,
): Promise<Created> {
  const { requestId, hint, ...rest } = options;
  const ids = requestIdsIn(stateDir(), client);
  const unknown = () =>
    `Interrupted before the service responded. The envelope may have been created${body.sendImmediately ? ' and sent' : ''}. Its request ID is ${requestId}.`;
  return withOutcomeCheck({ unknown, hint }, context, async (running) => {
    const own = await ownSecret(body, requestId, context);
    const created = await createEnvelope(client, body, { ...rest, ...running, ids, secret: own });
    await own?.link(created.envelope.id);
    return created;
  });
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
  const preview = { envelope, template, account, options, warnings: [] };
  const { columns, style } = terminal;
  const redact = (text: string) => terminal.redactor.redact(text);
  await terminal.out(`${renderComposition(preview, { columns, style, redact })}Nothing was created.\n`);
}

interface CreateInput {
  wanted: EnvelopeInput;
  /** Returns the command that creates it with this request ID and without prompts. */
  command: (requestId: string) => string;
  /** The user has already seen the problems of its signers. */
  isChecked: boolean;
}

/**
 * Returns the envelope that the flags describe. Prompts for a missing template or signers.
 * @throws UsageError without a terminal.
 */
async function readNewEnvelope(flags: CreateFlags, context: Context): Promise<CreateInput> {
  const { template: templateId } = flags;
  const { session, terminal } = context;
  const hasSigners = flags.signer !== undefined || flags['signers-file'] !== undefined;
  const asks = (templateId === undefined || !hasSigners) && terminal.canAsk && !terminal.json;
  if (templateId === undefined && !asks) {
    throw new UsageError('The --template flag is missing.', {
      hint: 'List the templates with `esign templates list`. On a terminal, you are prompted for it.',
    });
  }
  const secretFile = flags['webhook-secret-file'];
  const needsSecret = secretFile !== undefined || flags['webhook-url'] !== undefined;
  const envelope = {
    signers: asks && !hasSigners ? [] : await readSigners(flags, terminal),
    subject: flags.subject,
    message: await readMessage(flags),
    metadata: await readMetadata(flags.metadata, flags['metadata-file']),
    webhookUrl: flags['webhook-url'],
    webhookSecret: needsSecret ? await readWebhookSecret(secretFile, terminal) : undefined,
    expiresInDays: flags['expires-in-days'],
    signingOrder: flags['signing-order']?.toUpperCase(),
    send: flags.send,
  };
  if (templateId !== undefined && !asks)
    return {
      wanted: { ...envelope, templateId },
      command: (id) =>
        rebuildCommand(session.words, { add: flags['request-id'] ? [] : ['--request-id', id] }),
      isChecked: false,
    };
  // Without permission to write, prompts would be pointless.
  if (!flags['dry-run'])
    await (await session.client()).checkWrites([plannedCreate({ signers: [], send: flags.send })]);
  // Refuses conflicting flags before the first prompt.
  createBody({ ...envelope, templateId: '' }, newRequestId());
  const { compose } = await import('./compose.ts');
  const options = preservedFlags(flags);
  const wanted = await compose({ templateId, envelope, options, dryRun: flags['dry-run'] }, context);
  const kept = options.filter(([name]) => name !== 'request-id' && name !== 'send');
  const send = wanted.send ? ([['send', true]] as const) : [];
  return {
    wanted,
    isChecked: true,
    command: (id) => equivalentCommand({ envelope: wanted, options: [...kept, ...send, ['request-id', id]] }),
  };
}

/** Returns the JSON object of a file, overridden by `k=v` pairs. */
async function readMetadata(
  pairs: readonly string[] | undefined,
  file: string | undefined,
): Promise<Record<string, unknown>> {
  const given = readPairs(pairs, 'metadata');
  // A request ID in a file may be copied from another envelope, so it is ignored.
  if (Object.hasOwn(given, REQUEST_ID_KEY))
    throw new UsageError(`The metadata key ${REQUEST_ID_KEY} is reserved for esign.`, {
      hint: `Use a different key, or pass --request-id ${given[REQUEST_ID_KEY] || 'KEY'}.`,
    });
  const fromFile = file === undefined ? {} : await readJsonObject(file, 'metadata file');
  return { ...fromFile, ...given };
}

const PRESERVED_FLAGS = [
  'expires-in-days',
  'metadata-file',
  'webhook-url',
  'webhook-secret-file',
  'request-id',
  'allow-missing-roles',
  'profile',
  'base-url',
  'confirm',
  'send',
  'quiet',
  'dry-run',
] as const;

function preservedFlags(flags: CreateFlags): (readonly [string, string | true])[] {
  const metadata = (flags.metadata ?? []).map((pair) => ['metadata', pair] as const);
  const others = PRESERVED_FLAGS.flatMap((name) => {
    const value = flags[name];
    if (value === undefined || value === false) return [];
    return [[name, value === true ? value : String(value)] as const];
  });
  return [...metadata, ...others];
}
