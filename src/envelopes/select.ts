import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';

/** Which envelopes are wanted; every given condition must hold. Times in ms since the epoch. */
export interface Selection {
  statuses?: readonly string[] | undefined;
  templateId?: string | undefined;
  /** Part of a signer's address or name, any case. */
  signer?: string | undefined;
  /** Part of the subject, template name, id or metadata values, any case. */
  search?: string | undefined;
  createdAfter?: number | undefined;
  createdBefore?: number | undefined;
  /** Not yet ended, and expiring before this time. */
  expiresBefore?: number | undefined;
}

/**
 * Envelopes that fit, as the service lists them. The service filters by one status; the rest is filtered here.
 * The order of the list is not documented, so every page is read. Items without signers are completed
 * with a GET when the signer filter needs them.
 */
export async function* selectEnvelopes(
  client: Client,
  selection: Selection,
  options: { needsSigners?: boolean; pageSize?: number | undefined; signal?: AbortSignal } = {},
): AsyncGenerator<Envelope, void, undefined> {
  const { signal } = options;
  const only = selection.statuses?.length === 1 ? selection.statuses[0] : undefined;
  for await (const item of client.envelopes.list({ status: only, pageSize: options.pageSize, signal })) {
    if (!fitsWithoutSigners(item, selection)) continue;
    const wantsMore =
      (selection.signer !== undefined || options.needsSigners === true) && item.signers === undefined;
    const envelope = wantsMore ? await client.envelopes.get(item.id, signal) : item;
    if (fitsSigner(envelope, selection.signer)) yield envelope;
  }
}

/** True when a page of the wanted size is all that has to be read: nothing is filtered here. */
export function isUnfiltered(selection: Selection): boolean {
  const { statuses, ...rest } = selection;
  return (statuses?.length ?? 0) <= 1 && Object.values(rest).every((value) => value === undefined);
}

function fitsWithoutSigners(envelope: Envelope, wanted: Selection): boolean {
  const created = timeOf(envelope.createdAt);
  return (
    (wanted.statuses === undefined || wanted.statuses.includes(envelope.status ?? '')) &&
    (wanted.templateId === undefined || envelope.templateId === wanted.templateId) &&
    (wanted.createdAfter === undefined || created >= wanted.createdAfter) &&
    (wanted.createdBefore === undefined || created <= wanted.createdBefore) &&
    fitsExpiry(envelope, wanted.expiresBefore) &&
    fitsSearch(envelope, wanted.search)
  );
}

function fitsExpiry(envelope: Envelope, before: number | undefined): boolean {
  if (before === undefined) return true;
  return ['SENT', 'IN_PROGRESS'].includes(envelope.status ?? '') && timeOf(envelope.expiresAt) <= before;
}

function fitsSearch(envelope: Envelope, search: string | undefined): boolean {
  if (search === undefined) return true;
  const { id, subject, templateName, metadata } = envelope;
  return contains([id, subject, templateName, metadata && JSON.stringify(metadata)], search);
}

function fitsSigner(envelope: Envelope, signer: string | undefined): boolean {
  if (signer === undefined) return true;
  return (envelope.signers ?? []).some((one) => contains([one.email, one.name], signer));
}

function contains(texts: (string | null | undefined)[], wanted: string): boolean {
  const needle = wanted.toLocaleLowerCase();
  return texts.some((text) => text?.toLocaleLowerCase().includes(needle));
}

/** NaN when missing, and every comparison with NaN is false. */
function timeOf(text: string | null | undefined): number {
  return text ? Date.parse(text) : Number.NaN;
}

/** All envelopes in the order of a field (`createdAt`, `-expiresAt` for descending); those without it come last. */
export async function* sortEnvelopes(
  envelopes: AsyncIterable<Envelope>,
  field: string,
): AsyncGenerator<Envelope, void, undefined> {
  const descending = field.startsWith('-');
  const name = descending ? field.slice(1) : field;
  const all: Envelope[] = [];
  for await (const envelope of envelopes) all.push(envelope);
  const keyOf = (envelope: Envelope) => {
    const value = Object.hasOwn(envelope, name) ? envelope[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  yield* all.sort((a, b) => {
    const [first, second] = [keyOf(a), keyOf(b)];
    if (first === undefined || second === undefined)
      return Number(first === undefined) - Number(second === undefined);
    return descending ? second.localeCompare(first) : first.localeCompare(second);
  });
}
