import { isAbsolute } from 'node:path';
import * as z from 'zod';
import type { Context } from '../../cli/context.ts';
import { LIST_LIMIT } from '../../cli/defaults.ts';
import { momentOf } from '../../cli/flags.ts';
import { filtersOf } from '../../cli/selection/flags.ts';
import { searchEnvelopes } from '../../cli/selection/search.ts';
import { type Selected, select } from '../../cli/selection/select.ts';
import { type VerifiedFile, verifyDocuments } from '../../documents/archive/verify.ts';
import { targetsOfIds } from '../../documents/download/targets.ts';
import type { Selection } from '../../envelopes/select.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { UsageError } from '../../kernel/errors.ts';
import { mapEach } from '../../kernel/streams.ts';
import { DOCUMENT_KINDS, ENVELOPE_STATUSES, LIMITS } from '../../kernel/vocabulary.ts';
import { summarize } from '../../statistics/summary.ts';
import { findTemplate } from '../../templates/find.ts';
import { rolesOf } from '../../templates/roles.ts';
import { searchTemplates } from '../../templates/search.ts';
import { fetchInto, waitingOf } from '../documents/download/run.ts';
import { knownSigners } from '../documents/seals.ts';
import { Histories } from '../envelopes/get/history.ts';
import { listed } from '../envelopes/list/run.ts';
import { soughtBy } from '../find/run.ts';
import { type Cursor, cursorFrom, leanEnvelope, leanTemplate, pageOf, type ResultPage } from './paging.ts';
import { LOOKS, type Tool, tool } from './tool.ts';

const MOST_NAMED = 10;
/** A client gives a call a minute at most. */
const WAIT_MS = 10_000;
const AT_ONCE = 4;

const id = z.string().min(1).describe('envelope id');
const limit = z.int().min(1).max(LIMITS.pageSize).optional().describe(`default ${LIST_LIMIT}`);
const cursor = z.string().min(1).optional().describe('nextCursor of the answer before');
const status = z.array(z.enum(ENVELOPE_STATUSES)).optional();
const filters = {
  template: z.string().optional().describe('id or name'),
  since: z.string().optional().describe('created since: 7d or a date'),
};

/** What can be asked for without changing anything but a folder on this machine. */
export function readTools(context: Context): Tool[] {
  return [...finding(context), ...looking(context), ...papers(context)];
}

function finding(context: Context): Tool[] {
  const { signal } = context.interrupt;
  return [
    tool(
      {
        name: 'find',
        description:
          'Find envelopes by words that begin words of id, subject, signer name or address, template, metadata. Newest first, without what only get returns. For: has Maria signed?',
        input: z.strictObject({ text: z.string().min(1), status, limit, cursor }),
        hints: LOOKS,
        run: async ({ text, status: statuses, limit: most = LIST_LIMIT, cursor: given }) => {
          const from = cursorFrom(given);
          const selection = notNewer(soughtBy(text, statuses), from);
          return envelopePage(
            await searchEnvelopes(selection, { limit: from ? undefined : most }, context),
            most,
            from,
          );
        },
      },
      context,
    ),
    tool(
      {
        name: 'list',
        description: 'List envelopes by status, template, signer, or time, without what only get returns.',
        input: z.strictObject({
          status,
          ...filters,
          signer: z.string().optional().describe('part of address or name'),
          olderThan: z.string().optional().describe('created before: 14d or a date'),
          expiringIn: z.string().optional().describe('in flight and expiring within: 3d'),
          limit,
          cursor,
        }),
        hints: LOOKS,
        run: async ({
          status: statuses,
          template,
          signer,
          since,
          olderThan,
          expiringIn,
          limit: most = LIST_LIMIT,
          cursor: given,
        }) => {
          const from = cursorFrom(given);
          const selection = filtersOf({
            status: statuses,
            template,
            signer,
            since: momentIf(since, 'since'),
            'older-than': momentIf(olderThan, 'olderThan'),
            'expiring-in': expiringIn === undefined ? undefined : readDuration(expiringIn, 'expiringIn'),
          });
          const narrowed = signer === undefined ? selection : notNewer(selection, from);
          // The items at which the last page ended come first, and nobody knows how far down.
          const flags = { limit: most, all: from !== undefined };
          return envelopePage(await listed(narrowed, flags, context), most, from);
        },
      },
      context,
    ),
    tool(
      {
        name: 'summary',
        description:
          'Where all envelopes stand: counts by status, longest waits, what expires within 3 days, what is stuck.',
        input: z.strictObject(filters),
        hints: LOOKS,
        run: async ({ template, since }) => {
          const selection: Selection = { templateId: template, createdAfter: momentIf(since, 'since') };
          const options = { now: () => context.session.now(), most: MOST_NAMED, signal };
          const { envelopes } = await select(selection, {}, context);
          return { data: await summarize(await context.session.client(), envelopes, options) };
        },
      },
      context,
    ),
  ];
}

function looking(context: Context): Tool[] {
  const { signal } = context.interrupt;
  return [
    tool(
      {
        name: 'get',
        description:
          'One envelope: status, signers and when each opened and signed, dates, storage keys, metadata.',
        input: z.strictObject({ id }),
        hints: LOOKS,
        run: async (wanted) => ({
          data: await (await context.session.client()).envelopes.get(wanted.id, signal),
        }),
      },
      context,
    ),
    tool(
      {
        name: 'history',
        description:
          'One envelope and, as `history`, the events that a listener on this machine received for it; empty where none runs.',
        input: z.strictObject({ id }),
        hints: LOOKS,
        run: async (wanted) => {
          const envelope = await (await context.session.client()).envelopes.get(wanted.id, signal);
          return { data: await new Histories([wanted.id]).addedTo(envelope) };
        },
      },
      context,
    ),
    tool(
      {
        name: 'templates',
        description:
          'Templates that envelopes are made from; with `id` (or a name) one with its fields and roles.',
        input: z.strictObject({
          id: z.string().min(1).optional(),
          search: z.string().optional(),
          limit,
          cursor,
        }),
        hints: LOOKS,
        run: async (wanted) => {
          const client = await context.session.client();
          if (wanted.id === undefined)
            return pageOf(searchTemplates(client, { search: wanted.search, signal }), leanTemplate, {
              limit: wanted.limit ?? LIST_LIMIT,
              cursor: cursorFrom(wanted.cursor),
            });
          const template = await findTemplate(client, wanted.id, signal);
          return { data: { ...template, roles: await rolesOf(client, template, signal) } };
        },
      },
      context,
    ),
  ];
}

function papers(context: Context): Tool[] {
  const { signal } = context.interrupt;
  return [
    tool(
      {
        name: 'verify',
        description:
          'Check downloaded files on this machine: their SHA256SUMS and the seal in each PDF (intact, changed, unsigned; who sealed it). `error` is null where all is well.',
        input: z.strictObject({
          paths: z.array(z.string().min(1)).min(1).max(20).describe('folders or files'),
          requireSeal: z.boolean().optional().describe('a PDF without a seal fails'),
        }),
        hints: { ...LOOKS, openWorldHint: false },
        run: async ({ paths, requireSeal }) => {
          const options = { known: await knownSigners({}, context.session), requireSeal, signal };
          return firstOf(mapEach(verifyDocuments(paths, options), withoutOtherHash), LIMITS.pageSize);
        },
      },
      context,
    ),
    tool(
      {
        name: 'download',
        description:
          "Fetch an envelope's papers from the customer's bucket into a folder of this machine, prove them, and write SHA256SUMS. Never replaces a different file.",
        input: z.strictObject({
          id,
          dir: z.string().min(1).describe('folder, as an absolute path'),
          what: z.array(z.enum(DOCUMENT_KINDS)).min(1).optional().describe('default signed, certificate'),
        }),
        // It writes files here, and asks the service only.
        hints: { ...LOOKS, readOnlyHint: false },
        run: async ({ id: envelopeId, dir, what }) => {
          if (!isAbsolute(dir))
            throw new UsageError(`The folder ${dir} is not an absolute path.`, {
              hint: 'Name it from the root, like /home/ada/contracts.',
            });
          const flags = { dir, force: false, concurrency: AT_ONCE, wait: WAIT_MS };
          const options = {
            client: await context.session.client(),
            kinds: [...new Set(what ?? (['signed', 'certificate'] as const))],
            template: undefined,
            waiting: waitingOf(flags, context),
          };
          const data = [];
          const targets = await targetsOfIds([envelopeId], options);
          for await (const { result, seal, problem } of fetchInto(targets, flags, context))
            data.push({ ...result, seal, problem });
          return { data };
        },
      },
      context,
    ),
  ];
}

/** A hash only of documents: that of any other file would let an assistant check guesses of what is in it. */
function withoutOtherHash(file: VerifiedFile): VerifiedFile {
  return file.seal === null && file.list === 'unlisted' ? { ...file, sha256: null } : file;
}

function envelopePage(
  { envelopes, hasMore }: Selected,
  limit: number,
  from: Cursor | undefined,
): Promise<ResultPage> {
  return pageOf(envelopes, leanEnvelope, { limit, cursor: from, hasMore });
}

/** A search is answered newest first, so that what is newer than the last page need not be read again. */
function notNewer(selection: Selection, from: Cursor | undefined): Selection {
  const createdAt = from?.createdAt;
  return createdAt === undefined ? selection : { ...selection, createdBefore: () => createdAt };
}

/** The first few, and whether there are more. */
async function firstOf<T>(items: AsyncIterable<T>, limit: number): Promise<{ data: T[]; more?: true }> {
  const data: T[] = [];
  for await (const one of items) {
    if (data.length === limit) return { data, more: true };
    data.push(one);
  }
  return { data };
}

function momentIf(text: string | undefined, name: string) {
  return text === undefined ? undefined : momentOf(text, name);
}
