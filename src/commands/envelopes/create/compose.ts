import type { Client } from '../../../api/client.ts';
import type { Template } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { ask, type Choice } from '../../../cli/prompts/prompts.ts';
import { findProblems } from '../../../envelopes/completeness.ts';
import {
  type Composition,
  type CompositionPart,
  composed,
  PARTS,
  recentEnvelopes,
} from '../../../envelopes/composition.ts';
import type { EnvelopeInput } from '../../../envelopes/create.ts';
import { counted } from '../../../kernel/duration.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { sentRoles } from '../../../templates/roles.ts';
import { askPart, type ComposeSuggestions, type Composing, setTemplate } from './compose-questions.ts';
import { accountOf, renderComposition } from './view.ts';

export interface ComposeInput {
  templateId: string | undefined;
  /** The envelope as set by the flags, with no signers if none were given. */
  envelope: Omit<EnvelopeInput, 'templateId'>;
  /** Flags to repeat in the equivalent command. */
  options: readonly (readonly [string, string | true])[];
  /** Only shows the request. */
  dryRun: boolean;
}

/** How long to wait for recent envelopes, which are only used for suggestions. */
const TIMEOUT_MS = 5_000;
const MAX_TEMPLATES = 1_000;

/**
 * Prompts for anything the flags leave out, shows the envelope, and asks whether to send it. Creates nothing.
 * @throws UsageError if the user discards it.
 */
export async function compose(input: ComposeInput, context: Context): Promise<EnvelopeInput> {
  const client = await context.session.client();
  const known = await loadSuggestions(client, input, context);
  const composition = initialComposition(input, known);
  context.terminal.err('Nothing is created until you confirm. Press Ctrl-C to quit.\n\n');
  return ask(async (conversation) => {
    const composing = { composition, known, conversation };
    await askMissing(input, composing);
    return decide(input, composing, context);
  });
}

/** Shows the envelope and asks what to do, until it is to be created, shown, or discarded. */
async function decide(input: ComposeInput, composing: Composing, context: Context): Promise<EnvelopeInput> {
  const { composition, conversation } = composing;
  for (;;) {
    const templateId = composition.template?.id ?? '';
    const envelope = { ...input.envelope, ...composed(composition), templateId };
    await showPreview(envelope, composition, input, context);
    const decision = await conversation.decide('What next?', decisions(envelope, input));
    if (decision === 'draft' || decision === 'send') return { ...envelope, send: decision === 'send' };
    if (decision === 'show') return envelope;
    if (decision === 'discard') throw new UsageError('Not confirmed; nothing was created.');
    await change(composing);
  }
}

async function showPreview(
  envelope: EnvelopeInput,
  { template, roles }: Composition,
  { options }: ComposeInput,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const account = await accountOf(context.session);
  const redact = (text: string) => terminal.redactor.redact(text);
  const view = { columns: process.stderr.columns || 80, style: terminal.styleErr, redact };
  const inferred = template === undefined || sentRoles(template).length === 0;
  const warnings = findProblems(envelope.signers, { names: roles, inferred }).map(({ text }) => text);
  terminal.err(renderComposition({ envelope, template, account, options, warnings }, view));
}

async function loadSuggestions(
  client: Client,
  { templateId }: ComposeInput,
  context: Context,
): Promise<ComposeSuggestions> {
  const { terminal } = context;
  const { signal } = context.interrupt;
  const spinner = await startSpinner('Reading templates and recent envelopes', terminal);
  try {
    const [templates, recent] = await Promise.all([
      templateId === undefined
        ? listTemplates(client, signal)
        : [await client.templates.get(templateId, signal)],
      // Suggestions are optional: a key that can't read envelopes or a slow list must not fail the command.
      recentEnvelopes(client, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])).catch(() => []),
    ]);
    signal.throwIfAborted();
    return { templates, recent };
  } finally {
    spinner.stop();
  }
}

async function listTemplates(client: Client, signal: AbortSignal): Promise<Template[]> {
  const templates: Template[] = [];
  for await (const template of client.templates.list({ signal })) {
    if (templates.push(template) >= MAX_TEMPLATES) break;
  }
  if (templates.length === 0)
    throw new UsageError('The account has no templates.', {
      hint: "Create one in the service's web dashboard.",
    });
  return templates;
}

function initialComposition(
  { templateId, envelope }: ComposeInput,
  { templates, recent }: ComposeSuggestions,
): Composition {
  const { signers, subject, message, signingOrder } = envelope;
  const order = (['PARALLEL', 'SEQUENTIAL'] as const).find((one) => one === signingOrder);
  const composition: Composition = { roles: [], signers: [...signers], subject, message, order };
  const [template] = templates;
  if (templateId !== undefined && template) setTemplate(composition, template, recent);
  return composition;
}

async function askMissing({ templateId, envelope }: ComposeInput, composing: Composing): Promise<void> {
  const isGiven: Record<CompositionPart, boolean> = {
    template: templateId !== undefined,
    signers: envelope.signers.length > 0,
    order: envelope.signingOrder !== undefined,
    subject: envelope.subject !== undefined,
    message: envelope.message !== undefined,
  };
  for (const part of PARTS) {
    if (isGiven[part] || (part === 'order' && composing.composition.signers.length < 2)) continue;
    await askPart(part, composing);
  }
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
