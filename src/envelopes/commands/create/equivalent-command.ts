import { shellWord } from '../../../kernel/text/shell-words.ts';
import type { EnvelopeInput } from '../../../once/create-body.ts';
import { signerText } from '../../signer-mailbox.ts';

/** Returns the command that creates this envelope without prompts. `options`: its other flags, each with its value or true. */
export function equivalentCommand(
  { templateId, signers, subject, message, signingOrder, send }: EnvelopeInput,
  options: readonly (readonly [string, string | true])[],
  requestId: string,
): string {
  const option = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`];
  return [
    'esign envelopes create',
    ...option('template', templateId),
    ...signers.flatMap((signer) => option('signer', signerText(signer))),
    ...option('signing-order', signingOrder?.toLowerCase()),
    ...option('subject', subject),
    ...option('message', message),
    ...options.flatMap(([name, value]) => (value === true ? [`--${name}`] : option(name, value))),
    ...(send ? ['--send'] : []),
    ...option('request-id', requestId),
  ].join(' ');
}
