import type { Envelope } from '../../../api/schemas.ts';
import { EsignCommand } from '../../../cli/command.ts';
import type { Context } from '../../../cli/context.ts';
import { exportListFlags, textFlag } from '../../../cli/flags.ts';
import { limited } from '../../../cli/input/limit.ts';
import { reportOf } from '../../../cli/report.ts';
import { selectionFlags, selectionOf } from '../../../cli/selection/flags.ts';
import { select } from '../../../cli/selection/search.ts';
import { completeItems, sortedBy } from '../../../envelopes/select.ts';
import { isNotFound, UsageError } from '../../../kernel/errors.ts';
import { listsSigners } from '../../../kernel/vocabulary.ts';
import { FieldCheck } from '../../../output/fields.ts';
import { writeList } from '../../../output/list.ts';
import { envelopeList } from './view.ts';

export default class EnvelopesList extends EsignCommand {
  static override summary = 'List envelopes, filtered by status, template, signer, text, or date.';
  static override examples = [
    '<%= config.bin %> envelopes list',
    '<%= config.bin %> envelopes list --status SENT,IN_PROGRESS --older-than 7d',
    '<%= config.bin %> envelopes list --signer ada@example.com --all --csv',
    '<%= config.bin %> envelopes list --status COMPLETED --since 30d -q',
    '<%= config.bin %> envelopes list --run last --metadata deal=4711',
  ];
  static override flags = {
    ...exportListFlags,
    ...selectionFlags,
    sort: textFlag('FIELD', 'field to sort by; `-FIELD` for descending order', { helpGroup: 'OUTPUT' }),
  };

  async run(): Promise<void> {
    const { flags, context, terminal } = await this.start(EnvelopesList);
    const selection = await selectionOf(flags, context);
    const found = await select(selection, context, flags);
    const sorted = flags.sort === undefined ? found.envelopes : sorting(found.envelopes, flags.sort);
    const taken = limited.take(sorted, flags, context, found.total);
    const needsSigners = !flags.quiet && !terminal.json && (flags.fields?.includes('signers') ?? true);
    const shown = needsSigners
      ? completeItems(await context.session.client(), taken, listsSigners, context.interrupt.signal)
      : taken;
    const { template } = flags;
    await writeList<Envelope>(
      template === undefined || terminal.json ? shown : withEmptyNotice(shown, template, context),
      envelopeList(() => context.session.now(), { selection, flags }),
      flags,
      terminal.hidingSecrets(),
    );
    if (found.hasMore()) limited.notice(flags, context, found.total());
  }
}

/** Yields all of them; if none exist, prints a notice for a template that doesn't exist. */
async function* withEmptyNotice<T>(
  items: AsyncIterable<T>,
  templateId: string,
  context: Context,
): AsyncGenerator<T, void, undefined> {
  let isEmpty = true;
  for await (const item of items) {
    isEmpty = false;
    yield item;
  }
  if (isEmpty) await noticeMissing(templateId, context);
}

/** Prints a notice with a suggestion if the template doesn't exist. Other errors are ignored. */
async function noticeMissing(templateId: string, context: Context): Promise<void> {
  try {
    await (await context.session.client()).templates.get(templateId, context.interrupt.signal);
  } catch (error) {
    context.interrupt.signal.throwIfAborted();
    if (!isNotFound(error)) return;
    const { message, hint } = reportOf(error);
    context.terminal.notice(`${message}. ${hint ?? ''}`);
  }
}

/**
 * Sorts them by a field.
 * @throws UsageError if none of them has it.
 */
async function* sorting(
  envelopes: AsyncIterable<Envelope>,
  field: string,
): AsyncGenerator<Envelope, void, undefined> {
  const check = new FieldCheck([field.replace(/^-/, '')]);
  const all: Envelope[] = [];
  for await (const one of envelopes) {
    check.see(one);
    all.push(one);
  }
  const missing = check.notice();
  if (missing !== undefined)
    throw new UsageError(`Can't sort by "${field}". ${missing}`, {
      hint: 'Sort by one field, such as `--sort createdAt`.',
    });
  yield* sortedBy(all, field);
}
