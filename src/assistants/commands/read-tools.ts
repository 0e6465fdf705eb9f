import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { type Selected, searchEnvelopes, select } from '../../catalog/commands/select-envelopes.ts';
import { filtersOf, searchText } from '../../catalog/commands/selection-flags.ts';
import type { Selection } from '../../catalog/selection.ts';
import { momentOf } from '../../cli/flags.ts';
import { LIST_LIMIT } from '../../cli/input/list-limit.ts';
import { type VerifiedFile, verifyDocuments } from '../../documents/archive/verify.ts';
import { fetchInto } from '../../documents/commands/run-download.ts';
import { readKnownSigners } from '../../documents/commands/signers.ts';
import { findTargetsById } from '../../documents/download/targets.ts';
import { historyReader } from '../../envelopes/commands/get-history.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { UsageError } from '../../kernel/errors.ts';
import { mapEach } from '../../kernel/streams.ts';
import { DOCUMENT_KINDS, ENVELOPE_STATUSES, LIMITS } from '../../kernel/vocabulary.ts';
import { readLateSigners } from '../../reports/commands/late-signers.ts';
import { readReport } from '../../reports/commands/read-report.ts';
import type { Context } from '../../session/context.ts';
import { findTemplate } from '../../templates/find-template.ts';
import { rolesOf } from '../../templates/roles.ts';
import { searchTemplates } from '../../templates/search-templates.ts';
import {
  type Cursor,
  cursorFrom,
  envelopeListItem,
  pageOf,
  type ResultPage,
  templateListItem,
} from './mcp-paging.ts';
import { READ_ONLY_HINTS, type Tool, tool } from './mcp-tool.ts';

const MAX_LATE = 50;
/** Clients time out a call after a minute. */
const WAIT_MS = 10_000;

const id = z.string().min(1).describe('envelope ID');
const limit = z.int().min(1).max(LIMITS.pageSize).optional().describe(`default ${LIST_LIMIT}`);
const cursor = z.string().min(1).optional().describe('nextCursor from the previous result');
const status = z.array(z.enum(ENVELOPE_STATUSES)).optional();
const filters = {
  template: z.string().optional().describe('template ID or name'),
  since: z.string().optional().describe('only envelopes created since this time: 7d or a date'),
};

/** Returns the tools that change nothing except a folder on this machine. */
export function readTools(context: Context): Tool[] {
  return [...searchTools(context), ...detailTools(context), ...documentTools(context)];
}

function searchTools(context: Context): Tool[] {
  return [
    tool({
      name: 'find',
      description:
        'Find envelopes. Each search term matches the beginning of a word in the ID, subject, signer name or address, template, or metadata. Newest first; some fields are returned only by get. Use it for questions such as: has Maria signed?',
      input: z.strictObject({ text: z.string().min(1), status, limit, cursor }),
      run: async ({ text, status: statuses, limit: most = LIST_LIMIT, cursor: given }) => {
        const from = cursorFrom(given);
        const selection = notNewer(filtersOf({ search: searchText(text), status: statuses }), from);
        return envelopePage(
          await searchEnvelopes(selection, { limit: from ? undefined : most }, context),
          most,
          from,
        );
      },
    }),
    tool({
      name: 'list',
      description:
        'List envelopes by status, template, signer, or time. Some fields are returned only by get.',
      input: z.strictObject({
        status,
        ...filters,
        signer: z.string().optional().describe("part of a signer's address or name"),
        olderThan: z.string().optional().describe('only envelopes created before this time: 14d or a date'),
        expiringIn: z.string().optional().describe('only open envelopes that expire within this time: 3d'),
        limit,
        cursor,
      }),
      run: async ({ signer, expiringIn, limit: most = LIST_LIMIT, ...given }) => {
        const from = cursorFrom(given.cursor);
        const selection = filtersOf({
          status: given.status,
          template: given.template,
          signer,
          since: momentIf(given.since, 'since'),
          'older-than': momentIf(given.olderThan, 'olderThan'),
          'expiring-in': expiringIn === undefined ? undefined : readDuration(expiringIn, 'expiringIn'),
        });
        const narrowed = signer === undefined ? selection : notNewer(selection, from);
        // The items at which the last page ended may be anywhere in the list.
        const flags = { limit: most, all: from !== undefined };
        return envelopePage(await select(narrowed, context, flags), most, from);
      },
    }),
    tool({
      name: 'late',
      description: 'List signers who take longer than usual, longest first, with the command to run next.',
      input: z.strictObject(filters),
      run: async ({ template, since }) => {
        const selection = filtersOf({ template, since: momentIf(since, 'since') });
        return { data: (await readLateSigners(selection, undefined, context)).slice(0, MAX_LATE) };
      },
    }),
    tool({
      name: 'report',
      description:
        'Report what needs attention (declined, expiring, overdue, and forgotten drafts), and counts, completion rate, and times of the last 90 days or since a given time.',
      input: z.strictObject(filters),
      run: async ({ template, since }) => {
        const flags = { template, since: momentIf(since, 'since') };
        const wanted = { selection: filtersOf(flags), flags, by: undefined };
        return { data: (await readReport(wanted, context)).report };
      },
    }),
  ];
}

function detailTools(context: Context): Tool[] {
  const { signal } = context.interrupt;
  const get = async (wanted: string) => (await context.session.client()).envelopes.get(wanted, signal);
  return [
    tool({
      name: 'get',
      description:
        'Get one envelope: status, dates, storage keys, metadata, and when each signer opened and signed it.',
      input: z.strictObject({ id }),
      run: async (wanted) => ({ data: await get(wanted.id) }),
    }),
    tool({
      name: 'history',
      description:
        'Get one envelope and its `history`: the events that `esign listen` received for it on this machine. The history is empty if no listener was running.',
      input: z.strictObject({ id }),
      run: async (wanted) => {
        const envelope = await get(wanted.id);
        const history = await historyReader([envelope.id], context.terminal)(envelope.id);
        return { data: { ...envelope, history } };
      },
    }),
    tool({
      name: 'templates',
      description: 'List templates. With `id` (an ID or a name), get one with its fields and roles.',
      input: z.strictObject({
        id: z.string().min(1).optional(),
        search: z.string().optional(),
        limit,
        cursor,
      }),
      run: async (wanted) => {
        const client = await context.session.client();
        if (wanted.id === undefined)
          return pageOf(searchTemplates(client, { search: wanted.search, signal }), templateListItem, {
            limit: wanted.limit ?? LIST_LIMIT,
            cursor: cursorFrom(wanted.cursor),
          });
        const template = await findTemplate(client, wanted.id, signal);
        return { data: { ...template, roles: await rolesOf(client, template, signal) } };
      },
    }),
  ];
}

function documentTools(context: Context): Tool[] {
  const { signal } = context.interrupt;
  return [
    tool({
      name: 'verify',
      description:
        'Check downloaded files on this machine: their SHA256SUMS, and the seal in each PDF (intact, changed, or unsigned, and who sealed it). `error` is null for a valid file.',
      input: z.strictObject({
        paths: z.array(z.string().min(1)).min(1).max(20).describe('folders or files'),
        requireSeal: z.boolean().optional().describe('reject PDFs without a seal'),
      }),
      hints: { ...READ_ONLY_HINTS, openWorldHint: false },
      run: async ({ paths, requireSeal }) => {
        const options = { known: await readKnownSigners({}, context.session), requireSeal, signal };
        return firstOf(mapEach(verifyDocuments(paths, options), withoutOtherHash), LIMITS.pageSize);
      },
    }),
    tool({
      name: 'download',
      description:
        "Download an envelope's documents from the customer's bucket to a folder on this machine, verify them, and write SHA256SUMS. Never replaces a different file.",
      input: z.strictObject({
        id,
        dir: z.string().min(1).describe('absolute path to the folder'),
        what: z
          .array(z.enum(DOCUMENT_KINDS))
          .min(1)
          .optional()
          .describe('files to download; default signed, certificate'),
      }),
      // It writes local files, but only reads from the service.
      hints: { ...READ_ONLY_HINTS, readOnlyHint: false },
      run: async ({ id: envelopeId, dir, what }) => {
        if (!isAbsolute(dir))
          throw new UsageError(`The folder path ${dir} is not absolute.`, {
            hint: 'Use an absolute path, such as /home/ada/contracts.',
          });
        const flags = { dir, force: false, wait: WAIT_MS };
        const options = {
          client: await context.session.client(),
          kinds: [...new Set(what ?? (['signed', 'certificate'] as const))],
          template: undefined,
          signal,
        };
        const data = [];
        const targets = await findTargetsById([envelopeId], options);
        for await (const { result, seal, problem } of fetchInto(targets, flags, context))
          data.push({ ...result, seal, problem });
        return { data };
      },
    }),
  ];
}

/** Removes the hash of files that aren't documents, so that an assistant can't check guesses of their content. */
function withoutOtherHash(file: VerifiedFile): VerifiedFile {
  return file.seal === null && file.list === 'unlisted' ? { ...file, sha256: null } : file;
}

function envelopePage(
  { envelopes, hasMore }: Selected,
  limit: number,
  from: Cursor | undefined,
): Promise<ResultPage> {
  return pageOf(envelopes, envelopeListItem, { limit, cursor: from, hasMore });
}

/** Searches return the newest first, so envelopes newer than the last page need not be read again. */
function notNewer(selection: Selection, from: Cursor | undefined): Selection {
  const createdAt = from?.createdAt;
  return createdAt === undefined ? selection : { ...selection, createdBefore: () => createdAt };
}

/** Returns the first items, and whether there are more. */
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
