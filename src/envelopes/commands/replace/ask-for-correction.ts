import type { Envelope } from '../../../api/resource-types.ts';
import { askChoice, askText } from '../../../cli/input/prompts.ts';
import { type AskedChoice, problemFoundBy } from '../../../cli/input/question.ts';
import { hasSigned, isInFlight } from '../../../kernel/statuses.ts';
import { mailboxOf } from '../../../kernel/text/person.ts';
import { safeLine } from '../../../output/text.ts';
import { parseSigner } from '../../signer-mailbox.ts';
import type { ReplaceFlags } from './replace-flags.ts';

type Correction = Pick<ReplaceFlags, 'signer' | 'subject' | 'expires-in-days'>;

/** Asks what to correct in an envelope. Returns undefined for one that can be sent again as it is. */
export async function askForCorrection(envelope: Envelope): Promise<Correction | undefined> {
  if (!isInFlight(envelope.status)) return undefined;
  const signers = (envelope.signers ?? []).filter((one) => one.email && !hasSigned(one));
  const ask = await askChoice('What is wrong?', [
    ...signers.map(
      (one): AskedChoice<() => Promise<Correction>> => ({
        value: () => askSigner(one.email ?? ''),
        name: safeLine(mailboxOf(one)),
      }),
    ),
    { value: askSubject, name: 'The subject' },
    { value: askExpiry, name: 'The expiry' },
  ]);
  return ask();
}

async function askSigner(old: string): Promise<Correction> {
  const problemOf = (text: string) => problemFoundBy(() => parseSigner(text.trim()));
  const text = await askText('Who signs instead?', { problemOf });
  return { signer: [`${old}=${text.trim()}`] };
}

async function askSubject(): Promise<Correction> {
  const required = (text: string) => (text.trim() === '' ? 'Type the subject.' : undefined);
  return { subject: await askText('Subject:', { problemOf: required }) };
}

async function askExpiry(): Promise<Correction> {
  const isDays = (text: string) =>
    /^[1-9]\d{0,3}$/.test(text.trim()) ? undefined : 'Type a number of days.';
  return { 'expires-in-days': Number(await askText('Days until it expires:', { problemOf: isDays })) };
}

/** Returns the correction as flags, for the command that does the same without questions. */
export function correctionAsFlags(correction: Correction): string[] {
  return Object.entries(correction).flatMap(([name, value]) => `--${name}=${String(value)}`);
}
