import type { Context } from '../../../cli/context.ts';
import type { Choice } from '../../../cli/prompts/prompts.ts';
import { findProblems } from '../../../envelopes/completeness.ts';
import { type Composition, type CompositionPart, composed, PARTS } from '../../../envelopes/composition.ts';
import type { EnvelopeInput } from '../../../envelopes/create.ts';
import { counted } from '../../../kernel/duration.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { sentRoles } from '../../../templates/roles.ts';
import { askPart } from './compose-questions.ts';
import type { Composed, ComposeInput, Composing } from './composing.ts';
import { accountOf, equivalentCommand, renderComposition } from './view.ts';

/** Shows the envelope and asks what to do, until it is to be created, shown, or discarded. */
export async function review(input: ComposeInput, composing: Composing, context: Context): Promise<Composed> {
  const { composition, conversation } = composing;
  for (;;) {
    const templateId = composition.template?.id ?? '';
    const envelope = { ...input.envelope, ...composed(composition), templateId };
    const chosen = await preview(envelope, composition, input, context);
    const decision = await conversation.decide('What next?', decisions(envelope, input));
    if (decision === 'draft' || decision === 'send') return chosen(decision === 'send');
    if (decision === 'show') return chosen(envelope.send);
    if (decision === 'discard') throw new UsageError('Not confirmed; nothing was created.');
    await change(composing);
  }
}

/** Shows the envelope. Returns a function that returns it with the decision to send it or not. */
async function preview(
  envelope: EnvelopeInput,
  { template, roles }: Composition,
  { options, requestId }: ComposeInput,
  { session, terminal }: Context,
): Promise<(send: boolean | undefined) => Composed> {
  const account = await accountOf(session);
  const redact = (text: string) => terminal.redactor.redact(text);
  const view = { columns: process.stderr.columns || 80, style: terminal.styleErr, redact };
  const inferred = template === undefined || sentRoles(template).length === 0;
  const warnings = findProblems(envelope.signers, { names: roles, inferred }).map(({ text }) => text);
  terminal.err(renderComposition({ envelope, template, account, options, requestId, warnings }, view));
  return (send) => {
    const wanted = { ...envelope, send };
    return { wanted, command: (id) => equivalentCommand({ envelope: wanted, options, requestId: id }) };
  };
}

type Decision = 'draft' | 'send' | 'show' | 'change' | 'discard';

function decisions(envelope: EnvelopeInput, { dryRun }: ComposeInput): Choice<Decision>[] {
  const people = counted(envelope.signers.length, 'signer');
  const draft: Choice<Decision> = {
    value: 'draft',
    name: 'Save as draft',
    description: 'No one is emailed.',
  };
  const send: Choice<Decision> = {
    value: 'send',
    name: 'Send now',
    description: `Emails ${people}. Same as the flag --send.`,
  };
  const show: Choice<Decision> = {
    value: 'show',
    name: 'Show the request',
    description: 'Nothing is created.',
  };
  const likely = dryRun ? [show] : envelope.send ? [send, draft] : [draft, send];
  return [
    ...likely,
    { value: 'change', name: 'Edit an answer' },
    { value: 'discard', name: 'Discard', description: 'Nothing is created.' },
  ];
}

const PART_NAMES: Readonly<Record<CompositionPart, string>> = {
  template: 'Template',
  signers: 'Signers',
  order: 'Signing order',
  subject: 'Subject',
  message: 'Message',
};

/** Asks which answer to change, and for the new one. A template with other roles needs other signers. */
async function change(composing: Composing): Promise<void> {
  const { composition, known, conversation } = composing;
  const changeable = PARTS.filter(
    (part) =>
      (part !== 'order' || composition.signers.length > 1) &&
      (part !== 'template' || known.templates.length > 1),
  );
  const part = await conversation.pick(
    'Change what?',
    changeable.map((one) => ({ value: one, name: PART_NAMES[one] })),
  );
  const before = composition.roles;
  await askPart(part, composing, true);
  if (composition.roles === before) return;
  await askPart('signers', composing, true);
  if (composition.signers.length > 1) await askPart('order', composing);
}
