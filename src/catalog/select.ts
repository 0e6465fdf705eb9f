import type { Client } from '../api/client.ts';
import { READ_CONCURRENCY } from '../api/limits.ts';
import type { Envelope, Signer } from '../api/schemas.ts';
import type { Moment } from '../kernel/clock.ts';
import { timeOf } from '../kernel/clock.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { folded, hasWord, hasWords } from '../kernel/text/words.ts';
import { isInFlight, listsSigners } from '../kernel/vocabulary.ts';
import { readIfExists } from './marked-envelopes.ts';
import { partOf, textsOf } from './match.ts';
import { isOfRun, RunMembers, type SelectedRun } from './run-members.ts';

/** The conditions that selected envelopes must meet. Times are by the service's clock. */
export interface Selection {
  statuses?: readonly string[] | undefined;
  /** The template's ID or its folded name (kernel/text/words.ts). */
  template?: { id: string; name: string } | undefined;
  /** Part of a signer's address or name, folded. */
  signer?: string | undefined;
  /** Folded words that must each begin a word of the envelope. See match.ts. */
  words?: readonly string[] | undefined;
  createdAfter?: Moment | undefined;
  createdBefore?: Moment | undefined;
  /** Open envelopes that expire before this time. */
  expiresBefore?: Moment | undefined;
  /** Metadata keys and values. Numbers are compared as text. */
  metadata?: readonly (readonly [string, string])[] | undefined;
  /** The run that created it or the envelope it replaces. */
  run?: SelectedRun | undefined;
}

export interface SelectEnvelopesOptions {
  pageSize?: number | undefined;
  /** Receives the total, if the service returns it and nothing is filtered here. */
  onTotal?: ((total: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Yields matching envelopes in the order of the service's list. The service filters by one status; the rest is filtered here.
 * The order of the list is not documented, so every page is read. Items that lack the signers or metadata for a filter are
 * read with a GET. The envelopes of a run come at the end, when all of them are known.
 */
export async function* selectEnvelopes(
  client: Client,
  selection: Selection,
  { signal, pageSize, onTotal }: SelectEnvelopesOptions = {},
): AsyncGenerator<Envelope, void, undefined> {
  const { run, ...rest } = selection;
  if (run !== undefined) return yield* selectOfRun(client, run, rest, signal);
  const status = selection.statuses?.length === 1 ? selection.statuses[0] : undefined;
  const list = { status, pageSize, signal, onTotal: isUnfiltered(selection) ? onTotal : undefined };
  yield* matching(client.envelopes.list(list), selection, client, signal);
}

async function* selectOfRun(
  client: Client,
  run: SelectedRun,
  selection: Selection,
  signal: AbortSignal | undefined,
): AsyncGenerator<Envelope, void, undefined> {
  const members = new RunMembers(run);
  const candidates = new Map<string, Envelope>();
  const add = (envelope: Envelope) => {
    const { id, metadata, createdAt } = envelope;
    members.add(id, timeOf(createdAt), metadata);
    if (members.mayInclude(id)) candidates.set(id, envelope);
  };
  // Not filtered by status, because a replaced envelope may itself be a replacement.
  for await (const item of client.envelopes.list({ signal, isThorough: true })) add(item);
  const undecided = [...candidates.values()].filter(({ id }) => members.isUndecided(id));
  const read = (item: Envelope) => completed(client, item, signal);
  for await (const whole of mapInOrder(undecided, READ_CONCURRENCY, read))
    add({ ...whole, metadata: whole.metadata ?? null });
  const ofRun = [...candidates.values()].filter(({ id }) => members.has(id));
  yield* matching(ofRun, selection, client, signal);
}

async function* matching(
  items: AsyncIterable<Envelope> | Iterable<Envelope>,
  selection: Selection,
  client: Client,
  signal: AbortSignal | undefined,
): AsyncGenerator<Envelope, void, undefined> {
  const matchesDetails = detailsFilter(selection);
  let matchesFacts: ((envelope: Envelope) => boolean) | undefined;
  for await (const item of items) {
    // The first response has set the service's clock.
    matchesFacts ??= factsFilter(selection, client.serviceClock.now());
    const one = lacksFacts(item, selection) ? await completed(client, item, signal) : item;
    if (!matchesFacts(one)) continue;
    if (matchesDetails(one)) yield one;
    else if (isIncomplete(one, selection)) {
      const whole = await completed(client, one, signal);
      if (matchesDetails(whole)) yield whole;
    }
  }
}

/** Returns true if only a GET can show whether a list item meets the conditions of `factsFilter`. */
function lacksFacts(item: Envelope, selection: Selection): boolean {
  const { statuses, template, createdAfter, createdBefore, expiresBefore } = selection;
  const { status, createdAt, expiresAt } = item;
  if (statuses !== undefined && !statuses.includes(status ?? '')) return false;
  return (
    (template !== undefined && !isTemplate(item, template) && !(item.templateId && item.templateName)) ||
    (!createdAt && (createdAfter ?? createdBefore) !== undefined) ||
    (!expiresAt && expiresBefore !== undefined && isInFlight(status))
  );
}

function isIncomplete(item: Envelope, selection: Selection): boolean {
  return (
    !listsSigners(item) || (selection.metadata !== undefined && (item.metadata ?? undefined) === undefined)
  );
}

/** Yields the envelopes. Those that lack fields are read one by one. */
export async function* completeItems(
  client: Client,
  envelopes: AsyncIterable<Envelope>,
  isComplete: (item: Envelope) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<Envelope, void, undefined> {
  for await (const one of envelopes) yield isComplete(one) ? one : await completed(client, one, signal);
}

/** Reads the whole envelope; returns the list item if it no longer exists. */
async function completed(client: Client, item: Envelope, signal?: AbortSignal): Promise<Envelope> {
  return (await readIfExists(client, item.id, signal)) ?? item;
}

/** Returns true if nothing is filtered here, so that one page of the limit's size is enough. */
export function isUnfiltered(selection: Selection): boolean {
  const { statuses, ...rest } = selection;
  return (statuses?.length ?? 0) <= 1 && Object.values(rest).every((value) => value === undefined);
}

/** A signer who matches, and the name or address that does. */
export interface MatchedSigner {
  signer: Signer;
  part: string;
}

/**
 * Returns a function that finds the matching signers of an envelope: those that match all words of the search, or otherwise
 * those that match some. It finds none for a selection without a signer or search.
 */
export function matchedSigners({ signer, words = [] }: Selection): (envelope: Envelope) => MatchedSigner[] {
  const partIn = (one: Signer) =>
    partOf(one, (text) => signer !== undefined && text.includes(signer)) ??
    partOf(one, (text) => words.some((word) => hasWord(text, word)));
  return (envelope) => {
    const whole = signer === undefined ? signersMatchingAll(envelope, words) : [];
    const candidates = whole.length > 0 ? whole : (envelope.signers ?? []);
    return candidates.flatMap((one) => {
      const part = partIn(one);
      return part === undefined ? [] : [{ signer: one, part }];
    });
  };
}

/** Returns a filter for envelopes in which one signer matches every word; undefined if the search has fewer than two. */
export function oneSignerFilter({
  words = [],
}: Selection): ((envelope: Envelope | undefined) => boolean) | undefined {
  return words.length < 2 ? undefined : (envelope) => signersMatchingAll(envelope, words).length > 0;
}

/** Returns the signers whose own name and address contain every word. */
function signersMatchingAll(envelope: Envelope | undefined, words: readonly string[]): Signer[] {
  const textsOfSigner = ({ name, email }: Signer) =>
    [name, email].flatMap((text) => (text ? [folded(text)] : []));
  return (envelope?.signers ?? []).filter((one) => words.length > 0 && hasWords(textsOfSigner(one), words));
}

/** Returns a filter for whole envelopes. */
export function selectionFilter(selection: Selection, now: number): (envelope: Envelope) => boolean {
  const [matchesFacts, matchesDetails] = [factsFilter(selection, now), detailsFilter(selection)];
  return (envelope) => matchesFacts(envelope) && matchesDetails(envelope);
}

/** Returns the part of the filter that a list item is enough for. */
function factsFilter(selection: Selection, now: number): (envelope: Envelope) => boolean {
  const { statuses, template } = selection;
  const after = selection.createdAfter?.(now);
  const before = selection.createdBefore?.(now);
  const expiry = selection.expiresBefore?.(now);
  return (envelope) => {
    const created = timeOf(envelope.createdAt);
    return (
      (statuses === undefined || statuses.includes(envelope.status ?? '')) &&
      (template === undefined || isTemplate(envelope, template)) &&
      (after === undefined || created >= after) &&
      (before === undefined || created <= before) &&
      (expiry === undefined || (isInFlight(envelope.status) && timeOf(envelope.expiresAt) <= expiry))
    );
  };
}

function isTemplate(
  { templateId, templateName }: Envelope,
  { id, name }: { id: string; name: string },
): boolean {
  return templateId === id || folded(templateName ?? '') === name;
}

/** Returns the part of the filter that needs signers or metadata, which a list item may lack. */
function detailsFilter({
  signer,
  words = [],
  metadata = [],
  run,
}: Selection): (envelope: Envelope) => boolean {
  return (envelope) =>
    (signer === undefined ||
      (envelope.signers ?? []).some((one) => partOf(one, (text) => text.includes(signer)) !== undefined)) &&
    (words.length === 0 || hasWords(textsOf(envelope), words)) &&
    metadata.every(([key, value]) => hasValue(envelope, key, value)) &&
    (run === undefined || isOfRun(run, envelope));
}

function hasValue({ metadata }: Envelope, key: string, value: string): boolean {
  const actual = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (actual === undefined || actual === null) return false;
  return (typeof actual === 'object' ? JSON.stringify(actual) : String(actual)) === value;
}

/** Returns the envelopes with the newest first. Those without a creation time come last. */
export function newestFirst(envelopes: readonly Envelope[]): Envelope[] {
  return envelopes.toSorted((a, b) => (timeOf(b.createdAt) || 0) - (timeOf(a.createdAt) || 0));
}
