import { readMessage } from '../../../cli/input/files.ts';
import { readWebhookSecret } from '../../../cli/input/secrets.ts';
import { rebuildCommand } from '../../../cli/rerun.ts';
import { UsageError } from '../../../kernel/errors.ts';
import type { Context } from '../../../session/context.ts';
import { createBody, newRequestId, plannedCreate } from '../../create.ts';
import type { Composed, ComposeInput } from './compose.ts';
import { type CreateFlags, preservedFlags } from './create-flags.ts';
import { readMetadata } from './metadata.ts';
import { readSigners } from './signers.ts';

export interface CreateInput extends Composed {
  /** Flags to repeat in the equivalent command. */
  options: ComposeInput['options'];
  /** The user has already seen the problems of its signers. */
  isChecked: boolean;
}

/**
 * Returns the envelope that the flags describe. Prompts for a missing template or signers.
 * @throws UsageError without a terminal.
 */
export async function readNewEnvelope(flags: CreateFlags, context: Context): Promise<CreateInput> {
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
  const signers = asks && !hasSigners ? [] : await readSigners(flags, terminal);
  const message = await readMessage(flags);
  const envelope = {
    signers,
    subject: flags.subject,
    message,
    metadata: readMetadata(flags.metadata),
    webhookUrl: flags['webhook-url'],
    webhookSecret: needsSecret ? await readWebhookSecret(secretFile, terminal) : undefined,
    expiresInDays: flags['expires-in-days'],
    signingOrder: flags['signing-order']?.toUpperCase(),
    send: flags.send,
  };
  const options = preservedFlags(flags);
  if (templateId !== undefined && !asks)
    return {
      options,
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
  const input = {
    templateId,
    envelope,
    options,
    requestId: flags['request-id'],
    dryRun: flags['dry-run'],
  };
  return { ...(await compose(input, context)), options, isChecked: true };
}
