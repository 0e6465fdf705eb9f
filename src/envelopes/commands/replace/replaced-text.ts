import type { Envelope, Signer } from '../../../api/resource-types.ts';
import { renderNextSteps } from '../../../cli/next-steps.ts';
import { rebuildCommand } from '../../../cli/rebuild-command.ts';
import type { Context } from '../../../cli/session/context.ts';
import { counted, listed } from '../../../kernel/duration.ts';
import { hasSigned, isTerminal } from '../../../kernel/statuses.ts';
import { mailboxOf, nameOf } from '../../../kernel/text/person.ts';
import { command } from '../../../kernel/text/shell-words.ts';
import type { EnvelopeInput, SignerInput } from '../../../once/create-body.ts';
import { statusColor } from '../../../output/status-marks.ts';
import type { Terminal } from '../../../output/terminal.ts';
import { safeBlock, safeLine } from '../../../output/text.ts';
import type { ReplaceResult } from '../../replace/execute-replacement.ts';
import type { ReplacementPlan } from '../../replace/plan-replacement.ts';
import type { SignerChange } from '../../replace/replacement.ts';
import { nextStepsOfNew } from '../envelope-next-steps.ts';

/** Returns notes about the new envelope before it is created. */
export function replacementNotes(
  old: Envelope,
  signers: readonly SignerChange[],
  /** `isKept`: the secret of its webhooks is on this machine. */
  { wanted, isKept }: { wanted: EnvelopeInput; isKept: boolean },
): string[] {
  const names = signers.flatMap(({ after, keepsName, nameIsAddress }) => {
    if (after === undefined) return [];
    if (keepsName)
      return `${after.email} keeps the name ${after.name}. To change it, pass 'NAME <${after.email}>'.`;
    return nameIsAddress
      ? `No name for ${after.email}; the address is shown instead. To set one: 'NAME <${after.email}>'`
      : [];
  });
  const isUnsaid = !isKept && wanted.webhookUrl !== undefined && wanted.webhookSecret === undefined;
  return [
    ...names,
    ...signedLines(old),
    ...(isUnsaid
      ? [
          `The webhook secret for ${old.id} is not stored on this machine. The replacement gets a new one, which is stored for \`esign listen\`. To keep the old secret, pass --webhook-secret-file.`,
        ]
      : []),
  ];
}

function signedLines({ signers, id }: Envelope): string[] {
  const signed = (signers ?? []).filter(hasSigned);
  if (signed.length === 0) return [];
  const names = signed.map(nameOf);
  return [`${listed(names)} ${names.length === 1 ? 'has' : 'have'} signed ${id}, and must sign again.`];
}

export function renderPlan(
  plan: ReplacementPlan,
  { style, redact }: { style: Terminal['style']; redact: (text: string) => string },
): string {
  const { old, wanted, signers } = plan;
  const title = old.subject || old.templateName || '';
  const facts: [string, string | null | undefined, string | undefined][] = [
    ['Template', old.templateId, wanted.templateId],
    ['Subject', old.subject, wanted.subject],
    ['Message', old.message || undefined, wanted.message],
  ];
  const changed = facts.filter(([, before, after]) => (before ?? undefined) !== after);
  const days = wanted.expiresInDays;
  const lines = [
    `${style('bold', safeLine(old.id))}  ${safeLine(old.status ?? 'unknown')}  ${safeLine(redact(title))}`.trimEnd(),
    ...signers.flatMap((change) => signerLines(change).map((line) => `  ${safeLine(redact(line))}`)),
    ...changed.map(
      ([name, , after]) => `  ${style('dim', name)}  ${safeBlock(redact(after ?? '')).replaceAll('\n', ' ')}`,
    ),
    ...(days === undefined ? [] : [`  ${style('dim', 'Expires')}  in ${counted(days, 'day')}`]),
    '',
    ...stepLines(plan).map((line, index) => `  ${index + 1}. ${safeLine(redact(line))}`),
  ];
  return `${lines.join('\n')}\n\n`;
}

function signerLines({ before, after }: SignerChange): string[] {
  const is = before && signerLine(before);
  const willBe = after && signerLine(after);
  if (is === willBe) return is === undefined ? [] : [`  ${is}`];
  return [...(is === undefined ? [] : [`- ${is}`]), ...(willBe === undefined ? [] : [`+ ${willBe}`])];
}

function signerLine(signer: Signer | SignerInput): string {
  const who = mailboxOf(signer);
  return signer.role ? `${who}, ${signer.role}` : who;
}

function stepLines({ old, wanted, made, steps }: ReplacementPlan): string[] {
  const lines = {
    make: 'Create a draft replacement (one more envelope from your monthly quota).',
    cancel: `Cancel ${old.id}.`,
    send: `Send ${made?.id ?? 'the replacement'}, which emails ${listed(wanted.signers.map(({ name }) => name))}.`,
  };
  const found = made ? [`A draft replacement already exists: ${made.id}.`] : [];
  const left = steps.includes('cancel') || isTerminal(old.status ?? '') ? [] : [`Keep ${old.id} unchanged.`];
  return [...found, ...steps.map((step) => lines[step]), ...left];
}

/** Returns the message for a replacement that an earlier run has finished. */
export function alreadyReplacedText(old: Envelope, made: Envelope): string {
  const status = made.status ?? 'unknown';
  if (status === 'DRAFT') return `The draft ${made.id} already exists. Nothing was done.`;
  const again =
    isTerminal(status) && status !== 'COMPLETED'
      ? ` To send that one again, run \`${command('envelopes', 'replace', made.id)}\`.`
      : '';
  return `${old.id} was already replaced by ${made.id}, which is ${status}. Nothing was done.${again}`;
}

/** Renders both envelopes and the next command. In a pipe: ID and status of each. Quiet: only the ID of the replacement. */
export function renderReplaced(
  { old, new: made }: ReplaceResult,
  { terminal, session }: Context,
  { quiet }: { quiet?: boolean },
): string {
  const id = safeLine(made.id);
  if (quiet) return `${id}\n`;
  const [was, is] = [old, made].map(({ status }) => safeLine(status ?? 'unknown'));
  if (!terminal.outIsTty) return `${safeLine(old.id)}\t${was}\t${id}\t${is}\n`;
  const shown = (status = '') => {
    const color = statusColor(status);
    return color ? terminal.style(color, status) : status;
  };
  const people = (made.signers ?? []).map(nameOf);
  const isDraft = made.status === 'DRAFT';
  const head = isDraft
    ? `Created ${terminal.style('bold', id)} to replace ${safeLine(old.id)} (${shown(was)}):\n  ${shown(is)}`
    : `Replaced ${safeLine(old.id)} (${shown(was)}) with\n  ${terminal.style('bold', id)}: ${shown(is)}`;
  const next = isDraft
    ? terminal.style(
        'dim',
        `Cancel the original and send the draft:  ${rebuildCommand(session.words, { own: ['--draft'] })}\n`,
      )
    : renderNextSteps(nextStepsOfNew(made, terminal), terminal, '');
  return `${head}${safeLine(people.length > 0 ? `, for ${listed(people)}` : '')}\n${next}`;
}
