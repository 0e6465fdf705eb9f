import { resolve } from 'node:path';
import * as z from 'zod';
import type { Envelope } from '../../api/schemas.ts';
import { verifyPapers } from '../../documents/archive/verify.ts';
import { targetsOfIds } from '../../documents/download/targets.ts';
import type { Selection } from '../../envelopes/select.ts';
import { summarize } from '../../envelopes/summary.ts';
import { readDuration } from '../../kernel/duration-input.ts';
import { ENVELOPE_STATUSES, LIMITS, PAPERS } from '../../kernel/vocabulary.ts';
import { findTemplate } from '../../templates/find.ts';
import { rolesOf } from '../../templates/roles.ts';
import { searchTemplates } from '../../templates/search.ts';
import type { Context } from '../context.ts';
import { fetchInto, waitingOf } from '../documents/download.ts';
import { sealJudge } from '../documents/seals.ts';
import { soughtBy } from '../envelopes/find.ts';
import { Histories } from '../envelopes/history.ts';
import { type Found, listed } from '../envelopes/list.ts';
import { searchEnvelopes } from '../envelopes/search.ts';
import { selectionOf } from '../envelopes/select-flags.ts';
import { momentOf } from '../flags.ts';
import { LOOKS, type Tool, tool } from './tool.ts';

const DEFAULT_LIMIT = 20;
const MOST_NAMED = 10;
/** A client gives a call a minute at most. */
const WAIT_MS = 10_000;
const AT_ONCE = 4;

const id = z.string().min(1).describe('envelope id');
const limit = z.int().min(1).max(LIMITS.pageSize).optional().describe(`default ${DEFAULT_LIMIT}`);
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
  const { signal } = context;
  return [
    tool(
      {
        name: 'find',
        description:
          'Find envelopes by words that begin words of id, subject, signer name or address, template, metadata. Newest first. For: has Maria signed?',
        input: z.strictObject({ text: z.string().min(1), status, limit }),
        hints: LOOKS,
        run: async ({ text, status: statuses, limit: most = DEFAULT_LIMIT }) =>
          found(await searchEnvelopes(soughtBy(text, statuses), { limit: most }, context), most),
      },
      context,
    ),
    tool(
      {
        name: 'list',
        description: 'List envelopes by status, template, signer or time.',
        input: z.strictObject({
          status,
          ...filters,
          signer: z.string().optional().describe('part of address or name'),
          olderThan: z.string().optional().describe('created before: 14d or a date'),
          expiringIn: z.string().optional().describe('in flight and expiring within: 3d'),
          limit,
        }),
        hints: LOOKS,
        run: async ({
          status: statuses,
          template,
          signer,
          since,
          olderThan,
          expiringIn,
          limit: most = DEFAULT_LIMIT,
        }) => {
          const selection = selectionOf({
            status: statuses,
            template,
            signer,
            since: momentIf(since, 'since'),
            'older-than': momentIf(olderThan, 'olderThan'),
            'expiring-in': expiringIn === undefined ? undefined : readDuration(expiringIn, 'expiringIn'),
          });
          return found(await listed(selection, { limit: most, all: false }, context), most);
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
          const options = { now: () => context.now(), most: MOST_NAMED, signal };
          return { data: await summarize(await context.client(), selection, options) };
        },
      },
      context,
    ),
  ];
}

function looking(context: Context): Tool[] {
  const { signal } = context;
  return [
    tool(
      {
        name: 'get',
        description:
          'One envelope: status, signers and when each opened and signed, dates, storage keys, metadata.',
        input: z.strictObject({ id }),
        hints: LOOKS,
        run: async (wanted) => ({ data: await (await context.client()).envelopes.get(wanted.id, signal) }),
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
          const envelope = await (await context.client()).envelopes.get(wanted.id, signal);
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
        input: z.strictObject({ id: z.string().min(1).optional(), search: z.string().optional(), limit }),
        hints: LOOKS,
        run: async (wanted) => {
          const client = await context.client();
          if (wanted.id === undefined)
            return firstOf(
              { items: searchTemplates(client, { search: wanted.search, signal }) },
              wanted.limit,
            );
          const template = await findTemplate(client, wanted.id, signal);
          return { data: { ...template, roles: await rolesOf(client, template, signal) } };
        },
      },
      context,
    ),
  ];
}

function papers(context: Context): Tool[] {
  const { signal } = context;
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
          const judge = await sealJudge({ 'require-seal': requireSeal ?? false }, context);
          return firstOf({ items: verifyPapers(paths, { judge, signal }) }, LIMITS.pageSize);
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
          dir: z.string().min(1).describe('folder, best an absolute path'),
          what: z.array(z.enum(PAPERS)).min(1).optional().describe('default signed, certificate'),
        }),
        // It writes files here, and asks the service only.
        hints: { ...LOOKS, readOnlyHint: false },
        run: async ({ id: envelopeId, dir, what }) => {
          const flags = { dir: resolve(dir), force: false, concurrency: AT_ONCE, wait: WAIT_MS };
          const options = {
            client: await context.client(),
            papers: [...new Set(what ?? (['signed', 'certificate'] as const))],
            template: undefined,
            waiting: waitingOf(flags, context),
          };
          const data = [];
          const targets = await targetsOfIds([envelopeId], options);
          for await (const { result, seal } of fetchInto(targets, flags, context))
            data.push({ ...result, seal });
          return { data };
        },
      },
      context,
    ),
  ];
}

function found({ envelopes, hasMore }: Found, limit: number): Promise<{ data: Envelope[]; more?: true }> {
  return firstOf({ items: envelopes, hasMore }, limit);
}

/** The first few, and whether there are more. */
async function firstOf<T>(
  { items, hasMore }: { items: AsyncIterable<T>; hasMore?: () => boolean },
  limit = DEFAULT_LIMIT,
): Promise<{ data: T[]; more?: true }> {
  const data: T[] = [];
  for await (const one of items) {
    if (data.length === limit) return { data, more: true };
    data.push(one);
  }
  return hasMore?.() ? { data, more: true } : { data };
}

function momentIf(text: string | undefined, name: string) {
  return text === undefined ? undefined : momentOf(text, name);
}
