import type { Client } from '../../../api/client.ts';
import type { Template } from '../../../api/schemas.ts';
import type { Context } from '../../../cli/context.ts';
import { ask } from '../../../cli/prompts/prompts.ts';
import { type Composition, contactsIn, recentEnvelopes } from '../../../envelopes/composition.ts';
import { UsageError } from '../../../kernel/errors.ts';
import { startSpinner } from '../../../output/spinner.ts';
import { askMissing, setTemplate } from './compose-questions.ts';
import type { Composed, ComposeInput, ComposeSuggestions } from './composing.ts';
import { review } from './review.ts';

/** How long to wait for recent envelopes, which are only used for suggestions. */
const TIMEOUT_MS = 5_000;
const MAX_TEMPLATES = 1_000;

/**
 * Prompts for anything the flags leave out, shows the envelope, and asks whether to send it. Creates nothing.
 * @throws UsageError if the user discards it.
 */
export async function compose(input: ComposeInput, context: Context): Promise<Composed> {
  const client = await context.session.client();
  const known = await loadSuggestions(client, input, context);
  const composition = initialComposition(input, known);
  context.terminal.err('Nothing is created until you confirm. Press Ctrl-C to quit.\n\n');
  return ask(async (conversation) => {
    const composing = { composition, known, conversation };
    await askMissing(input, composing);
    return review(input, composing, context);
  });
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
    return { templates, recent, people: contactsIn(recent) };
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
