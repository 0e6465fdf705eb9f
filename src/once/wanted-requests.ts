import type { Envelope } from '../api/resource-types.ts';
import { contentIn, requestIdOf } from '../catalog/markers.ts';
import { isRecord } from '../kernel/json.ts';
import { PackedMap } from '../kernel/packed-map.ts';
import { hasSameSigners, type RequestSigner, requestIdByContent } from './request-identity.ts';
import type { Wording } from './wording.ts';

/** A request for signatures whose envelope is looked for. */
export interface WantedRequest {
  requestId: string;
  /**
   * What identifies it. `given`: the request ID that the user gave. `content`: its content, which anyone may have sent without an ID or
   * with another one. `generated`: only a request ID that nobody else uses.
   */
  identity: 'given' | 'content' | 'generated';
  /** `metadata.esignContent`. */
  content: string;
  templateId: string;
  signers: readonly RequestSigner[];
  wording: Wording;
}

/** The requests of a command by their numbers, to match envelopes with them. */
export class WantedRequests<T extends WantedRequest = WantedRequest> {
  readonly #requests: PackedMap<T>;
  readonly #byId = new Map<string, number>();
  /** The requests that are identified by their content and give roles or orders, by content and addresses. */
  readonly #byContent = new Map<string, number | number[]>();
  /** The contents in it, to see whether the signers of an envelope matter. */
  readonly #contents = new Set<string>();
  /** True if a request has an ID that the user gave, which counts however old its envelope is. */
  hasGivenIds = false;
  readonly givenIds: string[] = [];

  /** `isRequest` recognizes a request that was stored here. */
  constructor(isRequest: (value: unknown) => value is T) {
    this.#requests = new PackedMap(isRequest);
  }

  get size(): number {
    return this.#requests.size;
  }

  add(number: number, request: T): void {
    this.#requests.set(number, request);
    this.#byId.set(request.requestId.normalize('NFC'), number);
    if (request.identity === 'given') {
      this.hasGivenIds = true;
      this.givenIds.push(request.requestId);
    }
    if (request.identity !== 'content') return;
    this.#contents.add(request.content);
    // Without roles and orders, the request ID stands for the content and the addresses.
    const key = addressKey(request.content, request.signers);
    if (key === request.requestId) return;
    const others = this.#byContent.get(key);
    this.#byContent.set(key, others === undefined ? number : [others, number].flat());
  }

  get(number: number): T | undefined {
    return this.#requests.get(number);
  }

  /** Yields the requests with their numbers, in order. */
  entries(): Generator<[number, T], void, undefined> {
    return this.#requests.entries();
  }

  /** Returns the number of the request with a request ID. */
  numberOf(requestId: string | undefined): number | undefined {
    return requestId === undefined ? undefined : this.#byId.get(requestId.normalize('NFC'));
  }

  /** Returns the number of the request with the request ID of an envelope. */
  ofRequestId(envelope: Envelope): number | undefined {
    return this.numberOf(requestIdOf(envelope));
  }

  /** Returns the numbers of the requests that have the content and the signers of an envelope. */
  ofContent(envelope: Envelope): number[] {
    const content = contentIn(envelope);
    if (content === undefined || !this.#contents.has(content)) return [];
    const key = addressKey(content, envelope.signers ?? []);
    const numbers = [this.numberOf(key) ?? [], this.#byContent.get(key) ?? []].flat();
    return numbers.filter((number) => hasSameSigners(envelope.signers, this.get(number)?.signers ?? []));
  }

  /** Returns true if an envelope has the content of a request, whoever its signers are. */
  mayMatchContent(envelope: Envelope): boolean {
    return this.#contents.has(contentIn(envelope) ?? '');
  }
}

/** Returns the key of a content and the addresses of its signers, whatever their roles and orders are. */
function addressKey(content: string, signers: readonly { email?: string | null | undefined }[]): string {
  return requestIdByContent(
    content,
    signers.map(({ email }) => ({ email: email ?? '' })),
  );
}

/** Returns true for a request that was stored as JSON. */
export function isWantedRequest(value: unknown): value is WantedRequest {
  return isRecord(value) && typeof value.requestId === 'string' && isRecord(value.wording);
}
