import { readMessage } from '../../../cli/input/files.ts';
import { readPairs } from '../../../cli/input/pairs.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import { rebuildCommand } from '../../../cli/rebuild-command.ts';
import type { Context } from '../../../cli/session/context.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { REQUEST_ID_KEY } from '../../../kernel/vocabulary.ts';
import { createBody, type EnvelopeInput, newRequestId, plannedCreate } from '../../../once/create-body.ts';
import { type CreateFlags, preservedFlags } from './create-flags.ts';
import { readSigners } from './signers.ts';

/** The envelope to create. */
export interface EnvelopeToCreate {
  envelope: EnvelopeInput;
  /** The user composed it with the prompts, which showed its problems. */
  isComposed: boolean;
  /** Returns the command that creates it with a request ID and without prompts. */
  command: (requestId: string) => string;
}

/**
 * Returns the envelope that the flags describe. On a terminal, prompts for a missing template or signers.
 * @throws UsageError without a terminal.
 */
export async function readNewEnvelope(flags: CreateFlags, context: Context): Promise<EnvelopeToCreate> {
  const { template: templateId } = flags;
  const { session, terminal } = context;
  const hasSigners = flags.signer !== undefined || flags['signers-file'] !== undefined;
  const asks = (templateId === undefined || !hasSigners) && terminal.canAsk && !terminal.json;
  if (templateId === undefined && !asks) {
    throw new UsageError('The --template flag is missing.', {
      hint: 'List the templates with `esign templates list`. On a terminal, you are prompted for it.',
    });
  }
  const envelope = {
    ...(await envelopeOf(flags, context)),
    signers: asks && !hasSigners ? [] : await readSigners(flags, terminal),
  };
  // Refuses conflicting flags, and texts that can't be sent, before the first question.
  createBody({ ...envelope, templateId: '' }, newRequestId());
  if (templateId !== undefined && !asks) {
    const add = (id: string) => (flags['request-id'] ? [] : ['--request-id', id]);
    const command = (id: string) => rebuildCommand(session.words, { add: add(id) });
    return { envelope: { ...envelope, templateId }, isComposed: false, command };
  }
  // Without permission to write, prompts would be pointless.
  if (!flags['dry-run'])
    await (await session.client()).checkWrites([plannedCreate({ signers: [], send: flags.send })]);
  const [{ promptForEnvelope }, { equivalentCommand }] = await Promise.all([
    import('./prompt-for-envelope.ts'),
    import('./equivalent-command.ts'),
  ]);
  const options = preservedFlags(flags);
  const composed = await promptForEnvelope({ templateId, envelope, dryRun: flags['dry-run'] }, context);
  const command = (requestId: string) => equivalentCommand(composed, options, requestId);
  return { envelope: composed, isComposed: true, command };
}

/** Returns what the flags say about the envelope, except its template and its signers. */
async function envelopeOf(
  flags: CreateFlags,
  { terminal }: Context,
): Promise<Omit<EnvelopeInput, 'templateId' | 'signers'>> {
  const secretFile = flags['webhook-secret-file'];
  const needsSecret = secretFile !== undefined || flags['webhook-url'] !== undefined;
  return {
    subject: flags.subject,
    message: await readMessage(flags),
    metadata: readMetadata(flags.metadata),
    webhookUrl: flags['webhook-url'],
    webhookSecret: needsSecret ? await readWebhookSecret(secretFile, terminal) : undefined,
    expiresInDays: flags['expires-in-days'],
    signingOrder: flags['signing-order']?.toUpperCase(),
    send: flags.send,
  };
}

/** Returns the metadata of `k=v` pairs. */
function readMetadata(pairs: readonly string[] | undefined): Record<string, string> {
  const given = readPairs(pairs, 'metadata');
  if (Object.hasOwn(given, REQUEST_ID_KEY))
    throw new UsageError(`The metadata key ${REQUEST_ID_KEY} is reserved for esign.`, {
      hint: `Use a different key, or pass --request-id ${given[REQUEST_ID_KEY] || 'KEY'}.`,
    });
  return given;
}
