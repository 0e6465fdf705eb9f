import type { Envelope } from '../../api/schemas.ts';
import { theSignersOf } from '../../envelopes/named-signer.ts';
import { isNotFound, ServiceError } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';

/**
 * Does something in the sandbox in the name of a signer.
 * @throws ServiceError that names the signers, when it is none of them.
 */
export async function asSigner(
  id: string,
  signer: string | undefined,
  context: Context,
  act: () => Promise<Envelope>,
): Promise<Envelope> {
  try {
    return await act();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // Where there is no such envelope either, this says so.
    const envelope = await (await context.client()).envelopes.get(id, context.signal);
    if (signer === undefined) throw error;
    const { code, status } = error;
    throw new ServiceError(code, `${signer} is not a signer of ${id}`, {
      status,
      hint: theSignersOf(envelope),
    });
  }
}
