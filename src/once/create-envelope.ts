import type { Client } from '../api/client.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import { contentIn, requestIdOf } from '../catalog/markers.ts';
import { SupersededError, UnknownOutcomeError } from '../kernel/errors.ts';
import { readQuietly } from './actions/send-or-cancel.ts';
import type { CreateOptions, CreateResult, WebhookSecretSource } from './created.ts';
import { readLoggedCreates } from './logged-creates.ts';
import { findRequests } from './look.ts';
import { type KnownEnvelopes, processRequests } from './process-requests.ts';
import { contentOf, requireUsableRequestId } from './request-identity.ts';
import { SingleRequest } from './single-request.ts';
import { isWantedRequest, WantedRequests } from './wanted-requests.ts';
import { wordingOf } from './wording.ts';

/**
 * Creates the envelope of a request ID, and sends it if the body says so: once, whoever repeats it, on any machine. An existing
 * envelope is returned; a draft is sent.
 * @throws UnknownOutcomeError if responses are lost again and again, or the service doesn't show what an earlier request did;
 *   RequestIdUsedError if the ID was used for another template or other signers; ServiceError INVALID_STATE if its envelope was
 *   canceled, declined, or expired.
 */
export async function createOnce(
  client: Client,
  body: CreateEnvelopeBody,
  options: CreateOptions,
): Promise<CreateResult> {
  requireUsableRequestId(body);
  const requestId = requestIdOf(body) ?? '';
  const { memory, secret, signal, check } = options;
  const { sendImmediately: sends = false, ...draft } = body;
  const { searching, leavesDrafts = false } = options;
  const host = new SingleRequest(client, { requestId, sends, leavesDrafts, memory, signal, searching });
  let isChecked = false;
  const look = async () => {
    const looked = await lookForOne(client, body, requestId, options);
    if (looked.found.size > 0 || isChecked) return looked;
    isChecked = true;
    await check?.();
    const webhookSecret = await secret?.store();
    if (webhookSecret !== undefined) host.body = { ...draft, webhookSecret };
    return looked;
  };
  host.body = draft;
  await processRequests(host, look).catch(async (error: unknown) => {
    const explained = await host.explain(error);
    if (explained === undefined) return;
    await secret?.discard(explained);
    if (explained instanceof Error) throw explained;
    throw error;
  });
  return createdBy(host, secret);
}

/** Returns the result of the request. @throws its error */
async function createdBy(
  host: SingleRequest,
  secret: WebhookSecretSource | undefined,
): Promise<CreateResult> {
  const { client, result, warning, others } = host;
  if (result === undefined) throw new UnknownOutcomeError('The outcome is unknown.');
  if (result.kind === 'failed') {
    await secret?.discard(result.error);
    throw result.error;
  }
  const { envelope, drafts = [] } = result;
  const by = host.isOwn(1, envelope.id) ? 'reply' : host.hasLostResponse ? 'lookup' : 'earlier';
  // Another process was first, so no envelope has the new secret.
  if (by === 'earlier') await secret?.discard(new SupersededError('Another envelope counts.'));
  const whole = envelope.signers ? envelope : await readQuietly(client, envelope.id).catch(() => undefined);
  return {
    envelope: whole ?? envelope,
    by,
    ...(warning ? { warning } : {}),
    ...(others.length > 0 ? { others } : {}),
    ...(drafts.length > 0 ? { drafts } : {}),
  };
}

async function lookForOne(
  client: Client,
  body: CreateEnvelopeBody,
  requestId: string,
  { memory, since, signal }: CreateOptions,
): Promise<KnownEnvelopes> {
  const wanted = new WantedRequests(isWantedRequest);
  const { templateId, signers } = body;
  const content = contentIn(body) ?? contentOf(body);
  const wording = wordingOf(body);
  wanted.add(1, { requestId, identity: 'given', content, templateId, signers, wording });
  const logged = await readLoggedCreates(client, memory, [requestId], signal);
  const at = client.clock.now();
  const remembered = new Map([[1, logged.envelopeIds.get(requestId) ?? []]]);
  const { found, missing } = await findRequests(client, wanted, { remembered, since, signal });
  const unconfirmed = missing.map((id) => logged.listedAtById.get(id) ?? 0).filter((time) => time > at);
  return { at, found, notBefore: Math.max(logged.listedAt > at ? logged.listedAt : 0, ...unconfirmed) };
}
