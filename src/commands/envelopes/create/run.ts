import type { CreateEnvelopeBody } from '../../../api/envelopes.ts';
import type { Template } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { readJsonObject, readMessage } from '../../../cli/input/files.ts';
import { readPairs } from '../../../cli/input/pairs.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import { hasFlag, rebuildCommand } from '../../../cli/rerun.ts';
import { withOutcomeCheck } from '../../../cli/write.ts';
import {
  type Created,
  type CreateOptions,
  createBody,
  createEnvelope,
  type EnvelopeInput,
  newRequestId,
  plannedCreate,
} from '../../../envelopes/create.ts';
import { requestIdsIn } from '../../../envelopes/request-ids/request-ids.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { stateDir } from '../../../kernel/files/paths.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';
import { writeJson } from '../../../output/json.ts';
import { checkSigners, type ProblemOptions } from '../problems.ts';
import { accountOf, equivalentCommand, renderComposition } from './compose-view.ts';
import { readSigners } from './signers.ts';
import { explainCreated, renderCreated, withWarning } from './view.ts';
import { ownSecret } from './webhook-secret.ts';

interface CreateFlags {
  template?: string | undefined;
  signer?: string[] | undefined;
  'signers-file'?: string | undefined;
  encoding?: string | undefined;
  sheet?: string | undefined;
  subject?: string | undefined;
  message?: string | undefined;
  'message-file'?: string | undefined;
  metadata?: string[] | undefined;
  'metadata-file'?: string | undefined;
  'webhook-url'?: string | undefined;
  'webhook-secret-file'?: string | undefined;
  'expires-in-days'?: number | undefined;
  'signing-order'?: string | undefined;
  send: boolean;
  'dry-run': boolean;
  'allow-missing-roles': boolean;
  yes: boolean;
  'request-id'?: string | undefined;
  quiet: boolean;
  profile?: string | undefined;
  'base-url'?: string | undefined;
  confirm?: string | undefined;
}

/**
 * Creates the envelope that the flags describe, or shows the request of a dry run. When interrupted, it always reports whether
 * the envelope may exist.
 */
export async function createFromFlags(flags: CreateFlags, context: Context): Promise<void> {
  const { wanted, command, isChecked } = await readNewEnvelope(flags, context);
  const requestId = flags['request-id'] ?? newRequestId();
  const body = createBody(wanted, requestId);
  const client = await context.session.client();
  if (flags['dry-run']) {
    const checked = isChecked ? undefined : await checkSigners(wanted, problemOptions(flags), context);
    // On a terminal, the user has seen the summary and chose to see the request.
    if (context.terminal.json || !context.terminal.outIsTty || isChecked)
      return writeJson({ dryRun: true, body }, context.terminal.hidingSecrets());
    return showDryRun(wanted, checked?.template, flags, context);
  }
  const check = async () => {
    if (!isChecked) await checkSigners(wanted, problemOptions(flags), context);
    await (await client.checkWrites([plannedCreate(wanted)])).confirm();
  };
  const rerun = flags['request-id'] !== undefined;
  // If an earlier run created the envelope, there is nothing left to check.
  if (!rerun) await check();
  const hint = () =>
    `Run \`${command(requestId)}\`. It searches first, and creates the envelope only if it doesn't exist.`;
  const options = { requestId, rerun, check: rerun ? check : undefined, hint };
  const created = await executeCreate(body, options, context);
  for (const sentence of explainCreated(created)) context.terminal.notice(sentence);
  const out = context.terminal.hidingSecrets();
  if (context.terminal.json) return writeJson(withWarning(created), out);
  await out.out(renderCreated(created.envelope, context.terminal, flags.quiet));
}

/** Creates a planned envelope, with a webhook secret if it needs one. When interrupted, reports that it may exist. */
export async function executeCreate(
  body: CreateEnvelopeBody,
  {
    requestId,
    hint,
    ...options
  }: Pick<CreateOptions, 'rerun' | 'check'> & { requestId: string; hint: () => string },
  context: Context,
): Promise<Created> {
  const client = await context.session.client();
  const ids = requestIdsIn(stateDir(), client);
  const unknown = () =>
    `Interrupted before the service responded. The envelope may have been created${body.sendImmediately ? ' and sent' : ''}. Its request ID is ${requestId}.`;
  return withOutcomeCheck({ unknown, hint }, context, async (running) => {
    const own = await ownSecret(body, requestId, context);
    try {
      const wanted = own ? { ...body, webhookSecret: own.secret } : body;
      const created = await createEnvelope(client, wanted, { ...options, ...running, ids });
      await own?.link(created.envelope.id);
      return created;
    } catch (error) {
      await own?.discard(error);
      throw error;
    }
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
  const { redactor } = terminal;
  const { columns, style } = terminal;
  const options = preservedFlags(flags).filter(([name]) => name !== 'dry-run');
  const account = await accountOf(context.session);
  const redact = (text: string) => redactor.redact(text);
  const preview = { envelope, template, account, options, warnings: [] };
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
  const hasSigners = flags.signer !== undefined || flags['signers-file'] !== undefined;
  const asks = (templateId === undefined || !hasSigners) && context.terminal.canAsk && !context.terminal.json;
  if (templateId === undefined && !asks) {
    throw new UsageError('The --template flag is missing.', {
      hint: 'List the templates with `esign templates list`. On a terminal, you are prompted for it.',
    });
  }
  const envelope = {
    signers: asks && !hasSigners ? [] : await readSigners(flags, context.terminal),
    subject: flags.subject,
    message: await readMessage(flags),
    metadata: await readMetadata(flags.metadata, flags['metadata-file']),
    webhookUrl: flags['webhook-url'],
    webhookSecret: await readWebhookSecret(
      flags['webhook-secret-file'],
      flags['webhook-url'],
      context.terminal,
    ),
    expiresInDays: flags['expires-in-days'],
    signingOrder: flags['signing-order']?.toUpperCase(),
    send: flags.send,
  };
  if (templateId !== undefined && !asks)
    return {
      wanted: { ...envelope, templateId },
      command: (id) => commandWithRequestId(context.session.words, id),
      isChecked: false,
    };
  // Without permission to write, prompts would be pointless.
  if (!flags['dry-run'])
    await (await context.session.client()).checkWrites([plannedCreate({ signers: [], send: flags.send })]);
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

function commandWithRequestId(words: readonly string[], requestId: string): string {
  return rebuildCommand(words, { add: hasFlag(words, '--request-id') ? [] : ['--request-id', requestId] });
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

/** Returns the flags to repeat in the equivalent command. */
function preservedFlags(flags: CreateFlags): (readonly [string, string | true])[] {
  const metadata = (flags.metadata ?? []).map((pair) => ['metadata', pair] as const);
  const others = PRESERVED_FLAGS.flatMap((name) => {
    const value = flags[name];
    if (value === undefined || value === false) return [];
    return [[name, value === true ? value : String(value)] as const];
  });
  return [...metadata, ...others];
}
