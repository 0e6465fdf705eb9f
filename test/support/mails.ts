import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';

/** Where a sandbox is, and its key. */
interface Reachable {
  baseUrl: string;
  apiKey: string;
}

/** Returns the emails that a sandbox sent, for one envelope or for all. */
export async function mailsIn(
  { baseUrl, apiKey }: Reachable,
  envelopeId?: string,
): Promise<Record<string, unknown>[]> {
  const url = new URL('/__sandbox/mails', baseUrl);
  if (envelopeId !== undefined) url.searchParams.set('envelopeId', envelopeId);
  const reply = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
  const body = parseJson(await reply.text());
  return isRecord(body) && isList(body.data) ? body.data.filter(isRecord) : [];
}

/** Returns how often each address was asked to sign. */
export async function requestsToSign(
  sandbox: Reachable,
  envelopeId?: string,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind, to } of await mailsIn(sandbox, envelopeId))
    if (kind === 'request') counts[String(to)] = (counts[String(to)] ?? 0) + 1;
  return counts;
}
