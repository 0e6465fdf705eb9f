import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { rolesOf } from '../../catalog/template-roles.ts';
import { LIST_LIMIT } from '../../cli/input/list-limit.ts';
import type { Context } from '../../cli/session/context.ts';
import { type VerifiedFile, verifyDocuments } from '../../documents/archive/verify.ts';
import { downloadIntoFolder } from '../../documents/commands/run-download.ts';
import { readKnownSigners } from '../../documents/commands/seal-pins.ts';
import DocumentsVerify from '../../documents/commands/verify.ts';
import { targetsOfId } from '../../documents/download/targets.ts';
import EnvelopesDownload from '../../envelopes/commands/download.ts';
import { historyReader } from '../../envelopes/commands/get-history.ts';
import { envelopesListFlags } from '../../envelopes/commands/list.ts';
import { UsageError } from '../../kernel/errors.ts';
import { mapEach } from '../../kernel/streams.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import { LIMITS } from '../../kernel/vocabulary.ts';
import Find from '../../reports/commands/find.ts';
import Late from '../../reports/commands/late.ts';
import { readLateSigners } from '../../reports/commands/late-signers.ts';
import { readReport } from '../../reports/commands/read-report.ts';
import Report from '../../reports/commands/report.ts';
import { readSelected, type SelectedEnvelopes, searchEnvelopes } from '../../selection/select-envelopes.ts';
import { filtersFromFlags, requireSearchText } from '../../selection/selection-flags.ts';
import { templatesListFlags } from '../../templates/commands/list.ts';
import { searchTemplates } from '../../templates/search-templates.ts';
import { cursor, envelopeListItem, pageOf, type ResultPage, templateListItem } from './mcp-paging.ts';
import { READ_ONLY_HINTS, type Tool, tool } from './mcp-tool.ts';

const MAX_LATE = 50;
/** Clients time out a call after a minute. */
const WAIT_MS = 10_000;

const id = z.string().min(1).describe('envelope ID');

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
      flags: Find.flags,
      uses: ['status', 'limit'],
      more: { text: z.string().min(1), cursor },
      run: async ({ limit = LIST_LIMIT, ...filters }, { text, cursor: from = '0' }) => {
        const offset = Number(from);
        const selection = filtersFromFlags({ ...filters, search: requireSearchText(text) });
        const found = await searchEnvelopes(selection, { limit: offset + limit }, context);
        return envelopePage(found, offset, limit);
      },
    }),
    tool({
      name: 'list',
      description:
        'List envelopes by status, template, signer, or time. Some fields are returned only by get.',
      flags: envelopesListFlags,
      uses: wordList('status template signer since older-than expiring-in metadata limit'),
      more: { cursor },
      run: async ({ limit = LIST_LIMIT, ...filters }, { cursor: from = '0' }) => {
        const offset = Number(from);
        const flags = { limit: offset + limit, all: false };
        return envelopePage(await readSelected(filtersFromFlags(filters), context, flags), offset, limit);
      },
    }),
    tool({
      name: 'late',
      description: 'List signers who take longer than usual, longest first, with the command to run next.',
      flags: Late.flags,
      uses: ['template', 'since', 'after'],
      more: {},
      run: async ({ after, ...filters }) => ({
        data: (await readLateSigners(filtersFromFlags(filters), after, context)).slice(0, MAX_LATE),
      }),
    }),
    tool({
      name: 'report',
      description:
        'Report what needs attention (declined, expiring, overdue, and forgotten drafts), and counts, completion rate, and times of the last 90 days or since a given time.',
      flags: Report.flags,
      uses: ['template', 'since', 'month', 'by'],
      more: {},
      run: async (flags) => ({
        data: (await readReport({ selection: filtersFromFlags(flags), flags, by: flags.by }, context)).report,
      }),
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
      flags: {},
      uses: [],
      more: { id },
      run: async (_, wanted) => ({ data: await get(wanted.id) }),
    }),
    tool({
      name: 'history',
      description:
        'Get one envelope and its `history`: the events that `esign listen` received for it on this machine. The history is empty if no listener was running.',
      flags: {},
      uses: [],
      more: { id },
      run: async (_, wanted) => {
        const envelope = await get(wanted.id);
        const { accepted } = await historyReader([envelope.id], context.terminal)(envelope.id);
        return { data: { ...envelope, history: accepted } };
      },
    }),
    tool({
      name: 'templates',
      description: 'List templates. With `id`, get one with its fields and roles.',
      flags: templatesListFlags,
      uses: ['search', 'limit'],
      more: { id: z.string().min(1).optional(), cursor },
      run: async ({ search, limit = LIST_LIMIT }, wanted) => {
        const client = await context.session.client();
        if (wanted.id === undefined)
          return pageOf(searchTemplates(client, { search, signal }), templateListItem, {
            offset: Number(wanted.cursor ?? 0),
            limit,
          });
        const template = await client.templates.get(wanted.id, signal);
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
        'Check downloaded files on this machine: their SHA256SUMS, and the seal in each PDF (intact, changed, or unsigned, and who sealed it). `error` is null for a valid file. `extended`: only the first `sealedBytes` are sealed; anyone may have added the rest.',
      flags: DocumentsVerify.flags,
      uses: ['require-seal'],
      more: { paths: z.array(z.string().min(1)).min(1).max(20).describe('folders or files') },
      hints: { ...READ_ONLY_HINTS, openWorldHint: false },
      run: async ({ 'require-seal': requireSeal }, { paths }) => {
        const options = { known: await readKnownSigners({}, context.session), requireSeal, signal };
        return firstOf(mapEach(verifyDocuments(paths, options), withoutOtherHash), LIMITS.pageSize);
      },
    }),
    tool({
      name: 'download',
      description:
        "Download an envelope's documents from the customer's bucket to a folder on this machine, verify them, and write SHA256SUMS. Never replaces a different file. For an `extended` seal, rely only on `sealedPart`.",
      flags: EnvelopesDownload.flags,
      uses: ['what'],
      more: { id, dir: z.string().min(1).describe('absolute path to the folder') },
      // It writes local files, but only reads from the service.
      hints: { ...READ_ONLY_HINTS, readOnlyHint: false },
      run: async ({ what }, { id: envelopeId, dir }) => {
        if (!isAbsolute(dir))
          throw new UsageError(`The folder path ${dir} is not absolute.`, {
            hint: 'Use an absolute path, such as /home/ada/contracts.',
          });
        const flags = { dir, force: false, wait: WAIT_MS };
        const { envelopes } = await context.session.client();
        const read = (one: string) => envelopes.get(one, signal);
        const data = [];
        const targets = targetsOfId(envelopeId, what ?? ['signed', 'certificate'], read);
        for await (const { result, seal, sealedPart, problem } of downloadIntoFolder(targets, flags, context))
          data.push({ ...result, seal, sealedPart: sealedPart?.path ?? null, problem });
        return { data };
      },
    }),
  ];
}

/** Removes the hash of files that aren't documents, so that an assistant can't check guesses of their content. */
function withoutOtherHash(file: VerifiedFile): VerifiedFile {
  return file.seal === null && file.list !== 'ok' ? { ...file, sha256: null } : file;
}

function envelopePage(
  { envelopes, hasMore }: SelectedEnvelopes,
  offset: number,
  limit: number,
): Promise<ResultPage> {
  return pageOf(envelopes, envelopeListItem, { offset, limit, hasMore });
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
