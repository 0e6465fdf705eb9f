import type { Client } from '../api/client.ts';
import { READ_CONCURRENCY } from '../api/request-defaults.ts';
import type { Envelope } from '../api/resource-types.ts';
import { completeItem, markedEnvelopes, readIfExists } from '../catalog/envelope-list.ts';
import { contentIn, replacedBy, runOf } from '../catalog/markers.ts';
import { timeOf } from '../kernel/clock.ts';
import { DAY_MS } from '../kernel/duration.ts';
import { hasEnded, isVoid, listsSigners } from '../kernel/statuses.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { nameOf } from '../kernel/text/person.ts';
import { byPrecedence, type PrecedenceFacts, precedenceFactsOf } from './precedence.ts';
import { isForRequest } from './request-identity.ts';
import type { WantedRequest, WantedRequests } from './wanted-requests.ts';
import { changedWording, type WordingField } from './wording.ts';

/** How long a request without an ID counts as sent, by its content, in ms. */
export const SAME_CONTENT_MS = 30 * DAY_MS;

/** The envelope that a request already has. */
export interface FoundEnvelope {
  request: WantedRequest;
  envelope: PrecedenceFacts;
  /** The run that created it, if any. */
  run: string | undefined;
  /** The parts of the wording in which it differs from the request. */
  changed: readonly WordingField[];
  /** Whom and what the request ID was used for, if these are other signers or another template. */
  usedFor: string | undefined;
  /** Other drafts with the same request ID. */
  drafts: readonly string[];
  /** Other envelopes with the same request ID that emailed their signers, and that may still be signed. */
  sent: readonly PrecedenceFacts[];
}

/** What a look found. */
export interface LookResult {
  found: ReadonlyMap<number, FoundEnvelope>;
  /** The remembered envelopes that the service doesn't find. It may take a while to find a new one. */
  missing: readonly string[];
}

export interface LookOptions {
  /** Envelopes that this machine remembers for requests. They are confirmed by reading them if the list doesn't show them. */
  remembered?: ReadonlyMap<number, readonly string[]> | undefined;
  /** The envelopes can't have been created before this time (ms, service clock). */
  since?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with each envelope that was read. */
  onRead?: ((envelope: Envelope) => void) | undefined;
}

/**
 * Looks for the envelopes of requests: in the service's list, and those that this machine remembers. Canceled drafts emailed nobody
 * and don't count. If the user gave a request ID, the whole list is read; otherwise the last 30 days.
 */
export async function findRequests(
  client: Client,
  wanted: WantedRequests,
  { remembered = new Map(), since: earliest, signal, onRead }: LookOptions = {},
): Promise<LookResult> {
  const finder = new Finder(client, wanted, signal);
  const since =
    earliest !== undefined
      ? () => earliest
      : wanted.hasGivenIds
        ? undefined
        : () => client.serviceClock.now() - SAME_CONTENT_MS;
  const marked = markedEnvelopes(client, { since, signal });
  for await (const envelope of mapInOrder(marked, READ_CONCURRENCY, (item) => finder.complete(item))) {
    onRead?.(envelope);
    finder.consider(envelope);
  }
  const unconfirmed = [...remembered].flatMap(([number, ids]) =>
    ids.filter((id) => !finder.hasSeen(id)).map((id) => ({ number, id })),
  );
  const read = ({ id }: { id: string }) => readIfExists(client, id, signal);
  const readAll = mapInOrder(unconfirmed, READ_CONCURRENCY, async (one) => ({
    ...one,
    envelope: await read(one),
  }));
  const missing: string[] = [];
  for await (const { number, id, envelope } of readAll)
    if (envelope === undefined) missing.push(id);
    else finder.considerFor(number, envelope);
  return { found: finder.found(), missing };
}

class Finder {
  readonly #client: Client;
  readonly #wanted: WantedRequests;
  readonly #signal: AbortSignal | undefined;
  readonly #found = new Map<number, FoundEnvelope>();
  /** The envelopes that replace others, by the ID of the replaced one. */
  readonly #replacements = new Map<string, PrecedenceFacts>();
  readonly #seen = new Set<string>();
  /** The envelopes with the request ID of a request. Others only have its content. */
  readonly #named = new Set<string>();

  constructor(client: Client, wanted: WantedRequests, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#wanted = wanted;
    this.#signal = signal;
  }

  hasSeen(id: string): boolean {
    return this.#seen.has(id);
  }

  /** Reads an item of the list if it doesn't show enough to compare it. */
  complete(item: Envelope): Promise<Envelope> | Envelope {
    const number = this.#wanted.ofRequestId(item);
    const request = number === undefined ? undefined : this.#wanted.get(number);
    const isNamed = request !== undefined;
    if (!isNamed && !this.#wanted.mayMatchContent(item)) return item;
    const isUncertain = item.status === 'CANCELLED' && item.sentAt === undefined;
    // A list may spell templates differently, so other contents are compared with the whole envelope.
    const isOther = request?.identity === 'given' && contentIn(item) !== request.content;
    return isUncertain || isOther || !listsSigners(item)
      ? completeItem(this.#client, item, this.#signal)
      : item;
  }

  consider(envelope: Envelope): void {
    const old = replacedBy(envelope);
    if (old !== undefined && !isVoid(envelope)) this.#addReplacement(old, precedenceFactsOf(envelope));
    if (isVoid(envelope)) return;
    const named = this.#wanted.ofRequestId(envelope);
    if (named !== undefined) {
      this.#named.add(envelope.id);
      this.#take(named, envelope);
    }
    // A draft of someone else's request is not sent for this one.
    else if (envelope.status !== 'DRAFT')
      for (const number of this.#wanted.ofContent(envelope)) this.#take(number, envelope);
  }

  /** Considers an envelope that this machine created for a request, even if the service doesn't show its metadata. */
  considerFor(number: number, envelope: Envelope): void {
    if (!isVoid(envelope)) this.#take(number, envelope);
  }

  /** Returns the envelope of each request. One that was replaced counts as its replacement. */
  found(): ReadonlyMap<number, FoundEnvelope> {
    for (const found of this.#found.values()) found.envelope = this.#currentOf(found.envelope);
    return this.#found;
  }

  #take(number: number, envelope: Envelope): void {
    const request = this.#wanted.get(number);
    if (request === undefined || !this.#counts(request, envelope)) return;
    this.#seen.add(envelope.id);
    const facts = precedenceFactsOf(envelope);
    const known = this.#found.get(number);
    const isKept = known !== undefined && byPrecedence(known.envelope, facts) < 0;
    this.#found.set(number, {
      ...(isKept ? known : foundFor(request, envelope)),
      ...this.#others(known, isKept ? facts : known?.envelope, facts),
    });
  }

  /** Returns the other envelopes of a request: `other` and those that were known. `facts`: the envelope that was just read. */
  #others(
    known: FoundEnvelope | undefined,
    other: PrecedenceFacts | undefined,
    facts: PrecedenceFacts,
  ): Pick<FoundEnvelope, 'drafts' | 'sent'> {
    const { drafts = [], sent = [] } = known ?? {};
    if (other === undefined) return { drafts, sent };
    if (other.status === 'DRAFT') return { drafts: [...drafts, other.id], sent };
    const isSecond = [known?.envelope.id ?? '', facts.id].every((id) => this.#named.has(id));
    return { drafts, sent: isSecond && !hasEnded(other) ? [...sent, other] : sent };
  }

  /** A content may be sent again after a while; an ID may not. */
  #counts({ identity }: WantedRequest, { createdAt, sentAt }: Envelope): boolean {
    if (identity !== 'content') return true;
    const latest = Math.max(timeOf(createdAt) || 0, timeOf(sentAt) || 0);
    return latest === 0 || latest >= this.#client.serviceClock.now() - SAME_CONTENT_MS;
  }

  #addReplacement(old: string, facts: PrecedenceFacts): void {
    const known = this.#replacements.get(old);
    if (known === undefined || byPrecedence(facts, known) < 0) this.#replacements.set(old, facts);
  }

  #currentOf(facts: PrecedenceFacts): PrecedenceFacts {
    const seen = new Set<string>();
    let current = facts;
    while (current.status === 'CANCELLED' && !seen.has(current.id)) {
      seen.add(current.id);
      current = this.#replacements.get(current.id) ?? current;
    }
    return current;
  }
}

/** Compares an envelope with its request. */
function foundFor(request: WantedRequest, envelope: Envelope): FoundEnvelope {
  const isOther = request.identity === 'given' && !isForRequest(envelope, request);
  return {
    request,
    envelope: precedenceFactsOf(envelope),
    run: runOf(envelope),
    changed: changedWording(envelope, request.wording),
    usedFor: isOther ? usedFor(envelope) : undefined,
    drafts: [],
    sent: [],
  };
}

/** Returns whom and what an envelope is for, in words. */
function usedFor({ signers, templateId }: Envelope): string {
  return [...(signers ?? []).map(nameOf), templateId ?? ''].filter((fact) => fact !== '').join(', ');
}
