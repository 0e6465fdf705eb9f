import type { Envelope, Signer } from '../api/resource-types.ts';
import type { Moment } from '../kernel/clock.ts';
import { timeOf } from '../kernel/clock.ts';
import { followingStatuses, isInFlight, listsSigners } from '../kernel/statuses.ts';
import { valueText } from '../kernel/text/exact-json.ts';
import { foldText, matchesAllWords, matchesWord } from '../kernel/text/search-words.ts';
import type { SelectedRun } from './run-members.ts';
import { matchedNameOrAddress, searchableTexts } from './searchable-texts.ts';

/** The conditions that selected envelopes must meet. Times are by the service's clock. */
export interface Selection {
  statuses?: readonly string[] | undefined;
  /** The template's ID or its folded name (kernel/text/search-words.ts). */
  template?: { id: string; name: string } | undefined;
  /** Part of a signer's address or name, folded. */
  signer?: string | undefined;
  /** Folded words that must each begin a word of the envelope. See kernel/text/search-words.ts. */
  words?: readonly string[] | undefined;
  createdAfter?: Moment | undefined;
  createdBefore?: Moment | undefined;
  /** Open envelopes that expire before this time. */
  expiresBefore?: Moment | undefined;
  /** Metadata keys and values. Numbers are compared as text. */
  metadata?: readonly (readonly [string, string])[] | undefined;
  /** The run that created it or the envelope it replaces. RunMembers finds these; the filters don't. */
  run?: SelectedRun | undefined;
}

/** Whether an envelope meets a condition; undefined if the item of a list lacks the field that would show it. */
export type MatchAnswer = boolean | undefined;

/** Returns a filter for whole envelopes. */
export function selectionFilter(selection: Selection, now: number): (envelope: Envelope) => boolean {
  const filter = itemFilter(selection, now);
  return (envelope) => filter(envelope) === true;
}

/** Returns a filter for items of a list. */
export function itemFilter(selection: Selection, now: number): (item: Envelope) => MatchAnswer {
  const byState = stateFilter(selection, now);
  const current = ({ status, createdAt, expiresAt }: Envelope) =>
    byState({
      status: status ?? '',
      created: timeOf(createdAt),
      expires: timeOf(expiresAt),
      isCurrent: true,
    });
  return allOf([current, contentFilter(selection)]);
}

/** What a filter needs to know of an envelope's state. Times are in ms; NaN if unknown. */
interface State {
  status: string;
  created: number;
  expires: number;
  /** False if the envelope may have another status by now. */
  isCurrent: boolean;
}

/** Returns a filter by status and times. */
export function stateFilter(
  { statuses, createdAfter, createdBefore, expiresBefore }: Selection,
  now: number,
): (state: State) => MatchAnswer {
  const conditions: Condition<State>[] = [];
  const orLater = (isMet: boolean, { status, isCurrent }: State, canMeet: (status: string) => boolean) =>
    isMet || (!isCurrent && (followingStatuses(status)?.some(canMeet) ?? true) ? undefined : false);
  if (statuses) {
    const isWanted = (status: string) => statuses.includes(status);
    conditions.push((state) => orLater(isWanted(state.status), state, isWanted));
  }
  const after = createdAfter?.(now);
  if (after !== undefined) conditions.push(({ created }) => isTrueOf(created, (time) => time >= after));
  const before = createdBefore?.(now);
  if (before !== undefined) conditions.push(({ created }) => isTrueOf(created, (time) => time <= before));
  const expiry = expiresBefore?.(now);
  if (expiry !== undefined)
    conditions.push((state) =>
      isInFlight(state.status)
        ? isTrueOf(state.isCurrent ? state.expires : Number.NaN, (time) => time <= expiry)
        : orLater(false, state, isInFlight),
    );
  return allOf(conditions);
}

function isTrueOf(ms: number, test: (ms: number) => boolean): MatchAnswer {
  return Number.isNaN(ms) ? undefined : test(ms);
}

/** Returns a filter by what never changes: template, signers, words, and metadata. */
export function contentFilter(selection: Selection): (item: Envelope) => MatchAnswer {
  return allOf(contentConditions(selection));
}

type Condition<T> = (item: T) => MatchAnswer;

/** Combines conditions: false if one is certainly not met, true if all are met, and otherwise undefined. */
function allOf<T>(conditions: readonly Condition<T>[]): Condition<T> {
  return (item) => {
    let all: MatchAnswer = true;
    for (const condition of conditions) {
      const answer = condition(item);
      if (answer === false) return false;
      if (answer === undefined) all = undefined;
    }
    return all;
  };
}

function contentConditions({ template, signer, words, metadata = [] }: Selection): Condition<Envelope>[] {
  const conditions: Condition<Envelope>[] = [];
  const orUnknown = (isMet: boolean, isShown: boolean) => isMet || (isShown ? false : undefined);
  if (template) conditions.push((item) => orUnknown(isTemplate(item, template), showsTemplate(item)));
  for (const [key, value] of metadata)
    conditions.push((item) => orUnknown(hasValue(item, key, value), Boolean(item.metadata)));
  if (signer !== undefined) conditions.push((item) => orUnknown(hasSigner(item, signer), listsSigners(item)));
  if (words && words.length > 0)
    conditions.push((item) => orUnknown(matchesAllWords(searchableTexts(item), words), showsTexts(item)));
  return conditions;
}

function isTemplate(
  { templateId, templateName }: Envelope,
  { id, name }: { id: string; name: string },
): boolean {
  return templateId === id || foldText(templateName ?? '') === name;
}

function showsTemplate({ templateId, templateName }: Envelope): boolean {
  return Boolean(templateId && templateName);
}

function hasSigner({ signers }: Envelope, part: string): boolean {
  return (signers ?? []).some(
    (one) => matchedNameOrAddress(one, (text) => text.includes(part)) !== undefined,
  );
}

function showsTexts(item: Envelope): boolean {
  return listsSigners(item) && item.metadata !== undefined;
}

function hasValue({ metadata }: Envelope, key: string, value: string): boolean {
  const actual = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (actual === undefined || actual === null) return false;
  return valueText(actual) === value;
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
    matchedNameOrAddress(one, (text) => signer !== undefined && text.includes(signer)) ??
    matchedNameOrAddress(one, (text) => words.some((word) => matchesWord(text, word)));
  return (envelope) => {
    const whole = signer === undefined ? signersMatchingAll(envelope, words) : [];
    const candidates = whole.length > 0 ? whole : (envelope.signers ?? []);
    return candidates.flatMap((one) => {
      const part = partIn(one);
      return part === undefined ? [] : [{ signer: one, part }];
    });
  };
}

/** Returns true if one signer matches every word of a search for several. */
export function matchesOneSigner(envelope: Envelope, { words = [] }: Selection): boolean {
  return words.length > 1 && signersMatchingAll(envelope, words).length > 0;
}

/** Returns the signers whose own name and address contain every word. */
function signersMatchingAll({ signers }: Envelope, words: readonly string[]): Signer[] {
  const textsOfSigner = ({ name, email }: Signer) =>
    [name, email].flatMap((text) => (text ? [foldText(text)] : []));
  return (signers ?? []).filter((one) => words.length > 0 && matchesAllWords(textsOfSigner(one), words));
}
