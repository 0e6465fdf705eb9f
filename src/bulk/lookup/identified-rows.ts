import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/defaults.ts';
import type { Envelope } from '../../api/schemas.ts';
import { markedEnvelopes, readIfExists } from '../../envelopes/marked-envelopes.ts';
import { requestIdOf } from '../../envelopes/markers.ts';
import type { KnownRequest, RequestIds } from '../../envelopes/request-ids/request-ids.ts';
import { contentOf, isMadeFrom, isOtherContent } from '../../envelopes/request-ids/same-content.ts';
import { Limiter } from '../../kernel/async/limiter.ts';
import { timeOf } from '../../kernel/clock.ts';
import { isTerminal, isVoid } from '../../kernel/vocabulary.ts';
import type { EarlierRow, IdentifiedRow, NewRows } from './earlier-rows.ts';

/**
 * Adds to what the runs on this machine know of a file's rows: what any command on any machine did under their request IDs. Reads
 * this machine's records of the IDs, and makes one pass over the service's list.
 */
export async function findIdentifiedRows(
  client: Client,
  ids: RequestIds,
  newRows: NewRows,
  earlier: ReadonlyMap<number, EarlierRow>,
  signal?: AbortSignal,
): Promise<Map<number, EarlierRow>> {
  const found = new Map(earlier);
  const rows = newRows.withRequestIds;
  if (rows.size === 0) return found;
  const listed = await listedFor(client, rows, signal);
  const limiter = new Limiter(READ_CONCURRENCY);
  const check = async (row: IdentifiedRow) => {
    const known = earlier.get(row.row);
    if (known?.kind === 'other' || known?.kind === 'unfinished') return;
    const facts = { listed: listed.get(row.requestId), isKnown: known !== undefined };
    const result = await stateOf(client, row, await ids.read(row.requestId), facts, signal);
    // The list may show an old status.
    const isOutdated = result?.kind === 'draft' && known?.kind === 'sent';
    if (result !== undefined && !isOutdated) found.set(row.row, { ...toEarlier(row, known), ...result });
  };
  await Promise.all([...rows.values()].map((row) => limiter.run(() => check(row))));
  return found;
}

/** Returns the envelope that counts for each request ID, as the list shows it. */
async function listedFor(
  client: Client,
  rows: ReadonlyMap<string, IdentifiedRow>,
  signal?: AbortSignal,
): Promise<Map<string, Envelope>> {
  const listed = new Map<string, Envelope>();
  for await (const envelope of markedEnvelopes(client, { signal })) {
    const requestId = requestIdOf(envelope);
    if (requestId === undefined || !rows.has(requestId)) continue;
    const other = listed.get(requestId);
    if (other === undefined || precedes(envelope, other)) listed.set(requestId, envelope);
  }
  return listed;
}

/**
 * Returns true if one envelope takes precedence over the other: sent envelopes before drafts, and drafts before canceled drafts;
 * then the older one.
 */
function precedes(one: Envelope, other: Envelope): boolean {
  const rank = (envelope: Envelope) => (isVoid(envelope) ? 2 : envelope.status === 'DRAFT' ? 1 : 0);
  return (
    rank(one) - rank(other) < 0 ||
    (rank(one) === rank(other) && timeOf(one.createdAt) < timeOf(other.createdAt))
  );
}

type Result = Pick<EarlierRow, 'kind' | 'id' | 'status'>;

async function stateOf(
  client: Client,
  { use }: IdentifiedRow,
  record: KnownRequest,
  { listed, isKnown }: { listed: Envelope | undefined; isKnown: boolean },
  signal?: AbortSignal,
): Promise<Result | undefined> {
  const recordedId = record.state === 'made' ? record.envelopeId : undefined;
  if (isOtherContent(record, contentOf(use)))
    return { kind: 'other', id: listed?.id ?? recordedId, status: undefined };
  const isRecorded = 'content' in record && record.content !== '';
  if (listed !== undefined && (isKnown || isRecorded)) return resultOf(listed);
  const id = listed?.id ?? (isKnown ? undefined : recordedId);
  // A list item may lack signers, and its template is not decisive.
  const envelope = id === undefined ? undefined : await readIfExists(client, id, signal);
  if (envelope === undefined) return undefined;
  const isSame = isRecorded || isMadeFrom(envelope, use);
  return isSame ? resultOf(envelope) : { ...resultOf(envelope), kind: 'other' };
}

function resultOf({ id, status: shown }: Envelope): Result {
  const status = shown ?? 'SENT';
  if (status === 'DRAFT') return { kind: 'draft', id, status };
  return { kind: isTerminal(status) && status !== 'COMPLETED' ? 'ended' : 'sent', id, status };
}

function toEarlier(
  { row, line, requestId, signers }: IdentifiedRow,
  known: EarlierRow | undefined,
): EarlierRow {
  return (
    known ?? {
      row,
      line,
      requestId,
      signers,
      run: undefined,
      at: 0,
      kind: 'sent',
      id: undefined,
      status: undefined,
    }
  );
}
