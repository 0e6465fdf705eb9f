import type { Envelope, Signer } from '../api/resource-types.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import { contentIn } from '../catalog/markers.ts';
import { digest } from '../kernel/digest.ts';
import { UsageError } from '../kernel/errors.ts';
import { comparableSigner } from '../kernel/text/email-address.ts';
import { OWN_METADATA_KEYS, REQUEST_ID_KEY } from '../kernel/vocabulary.ts';

/*
 * When two requests for signatures are the same: if they have the same request ID or, without one, the same content (the signers'
 * addresses, the template, the subject before names are filled in, and the metadata).
 */

/** A signer, as far as it identifies a request. The role and the order count only where they are given. */
export interface RequestSigner {
  email: string;
  role?: string | undefined;
  order?: number | undefined;
}

/** The longest request ID that can be given, in characters. A service may cut longer ones. */
const MAX_REQUEST_ID_LENGTH = 200;

/** Put in front of a hash, so that another way of computing it is never compared with this one. */
const CONTENT_VERSION = '1';

/**
 * Returns `metadata.esignContent`: a hash of the template, the subject before names are filled in, and the metadata without the keys
 * of esign. The signers are not in it, because the service fills in roles and orders, and because a replacement carries it on.
 */
export function contentOf({
  templateId,
  subject,
  metadata,
}: {
  templateId: string;
  subject?: string | undefined;
  metadata?: Readonly<Record<string, unknown>> | undefined;
}): string {
  const own = Object.entries(metadata ?? {}).filter(([key]) => !OWN_METADATA_KEYS.includes(key));
  const facts = [templateId.trim(), comparableText(subject), Object.fromEntries(own)];
  return `${CONTENT_VERSION}-${digest(facts)}`;
}

/** Returns the request ID of a request without its own: the same one on every machine, for the same content and signers. */
export function requestIdByContent(content: string, signers: readonly RequestSigner[]): string {
  const people = signers.map(({ email, role, order }) =>
    JSON.stringify([comparableSigner(email), comparableText(role), order ?? null]),
  );
  return `content-${digest([content, people.sort()])}`;
}

/** Returns the same for a create body. */
export function contentIdOf(body: {
  templateId: string;
  subject?: string | undefined;
  metadata?: Readonly<Record<string, unknown>> | undefined;
  signers: readonly RequestSigner[];
}): string {
  return requestIdByContent(contentOf(body), body.signers);
}

/** @throws UsageError for the body of a create with a request ID that the service might not return unchanged. */
export function requireUsableRequestId({ metadata }: Pick<CreateEnvelopeBody, 'metadata'>): void {
  const id = metadata?.[REQUEST_ID_KEY];
  const problem = requestIdProblem(typeof id === 'string' ? id : '');
  if (problem !== undefined)
    throw new UsageError(`The request ID ${problem}.`, {
      hint: 'Use a value that identifies this envelope, such as an order number, or leave the request ID out.',
    });
}

/** Returns why a request ID can't be used, worded as the end of a sentence; undefined if it can. */
export function requestIdProblem(id: string): string | undefined {
  if (id.trim() === '') return 'is empty';
  if (id !== id.trim()) return 'begins or ends with a space';
  if (id.length > MAX_REQUEST_ID_LENGTH) return `is longer than ${MAX_REQUEST_ID_LENGTH} characters`;
  return undefined;
}

/**
 * Returns true if an envelope, as the service shows it, has these signers: the same addresses, and the same roles and sequence where
 * they are given. The service may have filled in roles and renumbered orders.
 */
export function hasSameSigners(
  shown: readonly Signer[] | null | undefined,
  wanted: readonly RequestSigner[],
): boolean {
  if (!shown || shown.length === 0) return true;
  const left = [...shown];
  const matched = wanted.map(({ email, role }) => {
    const at = left.findIndex(
      (one) => comparableSigner(one.email ?? '') === comparableSigner(email) && isSameText(one.role, role),
    );
    return at < 0 ? undefined : left.splice(at, 1)[0];
  });
  if (left.length > 0 || matched.includes(undefined)) return false;
  return isSameSequence(
    wanted.map(({ order }) => order),
    matched.map((one) => one?.order),
  );
}

/** Returns true if no two signers who are asked one after the other are shown the other way around. */
function isSameSequence(
  wanted: readonly (number | undefined)[],
  shown: readonly (number | null | undefined)[],
): boolean {
  return wanted.every((order, index) =>
    wanted.every((other, at) => {
      const [first, second] = [shown[index], shown[at]];
      if (order === undefined || other === undefined || order >= other) return true;
      return typeof first !== 'number' || typeof second !== 'number' || first < second;
    }),
  );
}

/** Returns true if an envelope has the template and the signers of a request. Only a GET certainly shows the template. */
export function hasSameContent(
  made: Envelope,
  { templateId, signers }: { templateId: string; signers: readonly RequestSigner[] },
): boolean {
  return isSameText(made.templateId, templateId) && hasSameSigners(made.signers, signers);
}

/**
 * Returns true if an envelope has the template and the signers of a request. The same content shows the same template, which a service may
 * spell differently.
 */
export function isForRequest(
  envelope: Envelope,
  { content, ...wanted }: { content: string; templateId: string; signers: readonly RequestSigner[] },
): boolean {
  const { templateId: _, ...rest } = envelope;
  return hasSameContent(contentIn(envelope) === content ? rest : envelope, wanted);
}

/** Returns true if the texts are the same, or one of them isn't known. */
export function isSameText(shown: string | null | undefined, expected: string | undefined): boolean {
  if (expected === undefined || shown === undefined || shown === null) return true;
  return comparableText(shown) === comparableText(expected);
}

/** Returns a text without differences that a service or a spreadsheet may add. */
export function comparableText(text: string | null | undefined): string | null {
  const compared = (text ?? '').normalize('NFC').replaceAll(/\s+/gu, ' ').trim();
  return compared === '' ? null : compared;
}
