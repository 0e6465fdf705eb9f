import type { Envelope } from '../../api/schemas.ts';
import { signersHint } from '../../envelopes/named-signer.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { isNotFound } from '../../kernel/request-failures.ts';
import { command } from '../../kernel/text/shell-words.ts';
import type { Context } from '../../session/context.ts';
import type { SandboxControl } from '../control/control-client.ts';

/**
 * Acts as a signer in the sandbox.
 * @throws ServiceError that lists the signers, if the given one isn't among them.
 */
export async function actAsSigner(
  id: string,
  signer: string | undefined,
  context: Context,
  act: (sandbox: SandboxControl) => Promise<Envelope>,
): Promise<Envelope> {
  const sandbox = await context.session.sandbox();
  try {
    return await act(sandbox);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'INVALID_STATE')
      throw new ServiceError(error.code, error.message, {
        status: error.status,
        hint: `See its status: \`${command('envelopes', 'get', id)}\`.`,
      });
    if (!isNotFound(error)) throw error;
    // If the envelope doesn't exist either, this fails with the right error.
    const envelope = await (await context.session.client()).envelopes.get(id, context.interrupt.signal);
    if (signer === undefined) throw error;
    const { code, status } = error;
    throw new ServiceError(code, `${signer} is not a signer of ${id}`, {
      status,
      hint: signersHint(envelope),
    });
  }
}
