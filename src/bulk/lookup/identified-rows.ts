import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { markedEnvelopes, readIfExists } from '../../catalog/envelope-list.ts';
import { requestIdOf } from '../../catalog/markers.ts';
import { byPrecedence } from '../../envelopes/precedence.ts';
import { hasSameContent } from '../../envelopes/same-content.ts';
import { Limiter } from '../../kernel/async/limiter.ts';
import { hasEnded } from '../../kernel/vocabulary.ts';
import { contentHashOf, createKey } from '../../log/keys.ts';
import { type LoggedWrite, mayHaveCreated } from '../../log/logged-write.ts';
import type { WriteMemory } from '../../log/write-memory.ts';
import type { EarlierRow, IdentifiedRow, NewRows } from './earlier-rows.ts';

/**
 * Adds to what the runs on this machine know of a file's rows: what any command on any machine did under their request IDs. Reads
 * this machine's records of the IDs, and makes one pass over the service's list.
 */
export async function findIdentifiedRows(
  client: Client,
  memory: WriteMemory,
  newRows: NewRows,
  earlier: ReadonlyMap<number, EarlierRow>,
  signal?: AbortSignal,
): Promise<Map<number, EarlierRow>> {
  const found = new Map(earlier);
  const rows = newRows.withRequestIds;
  if (rows.size === 0) return found;
  const listed = await listedFor(client, rows, signal);
  const logged = await loggedFor(client, memory, [...rows.keys()]);
  const limiter = new Limiter(READ_CONCURRENCY);
  const check = async (row: IdentifiedRow) => {
    const known = earlier.get(row.row);
    if (known?.kind === 'other' || known?.kind === 'unfinished') return;
    const facts = { listed: listed.get(row.requestId), isKnown: known !== undefined };
    const result = await stateOf(
      client,
      row,
      logged.get(createKey(client.baseUrl, row.requestId)),
      facts,
      signal,
    );
    // The list may show an old status.
    const isOutdated = result?.kind === 'draft' && known?.kind === 'sent';
    if (result === undefined || isOutdated) return;
    const { line, requestId } = row;
    found.set(row.row, {
      row: row.row,
      line,
      requestId,
      run: undefined,
      at: 0,
      ...known,
      ...result,
    });
  };
  await Promise.all([...rows.values()].map((row) => limiter.run(() => check(row))));
  return found;
}

/** Returns what the log knows of each request ID, by its key. */
async function loggedFor(
  client: Client,
  memory: WriteMemory,
  requestIds: readonly string[],
): Promise<Map<string, LoggedWrite>> {
  const writes = await memory.find(requestIds.map((id) => createKey(client.baseUrl, id)));
  const logged = new Map<string, LoggedWrite>();
  for (const write of writes) {
    const { key } = write.intent;
    if (key !== undefined && !logged.has(key) && mayHaveCreated(write)) logged.set(key, write);
  }
  return logged;
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
    if (other === undefined || byPrecedence(envelope, other) < 0) listed.set(requestId, envelope);
  }
  return listed;
}

type Result = Pick<EarlierRow, 'kind' | 'id' | 'status'>;

async function stateOf(
  client: Client,
  { use }: IdentifiedRow,
  write: LoggedWrite | undefined,
  { listed, isKnown }: { listed: Envelope | undefined; isKnown: boolean },
  signal?: AbortSignal,
): Promise<Result | undefined> {
  // The log proposes, the service confirms: nothing is skipped or refused before the envelope was seen.
  const recordedId = write?.state === 'done' ? write.envelopeIds[0] : undefined;
  const isRecorded = recordedId !== undefined;
  const isOther = isRecorded && write?.intent.content !== contentHashOf(use);
  if (listed !== undefined && !isOther && (isKnown || isRecorded)) return resultOf(listed);
  const id = listed?.id ?? (isKnown ? undefined : recordedId);
  // A list item may lack signers, and its template is not decisive.
  const envelope = id === undefined ? undefined : await readIfExists(client, id, signal);
  if (envelope === undefined) return undefined;
  const isSame = !isOther && (isRecorded || hasSameContent(envelope, use));
  return isSame ? resultOf(envelope) : { ...resultOf(envelope), kind: 'other' };
}

function resultOf(envelope: Envelope): Result {
  const { id, status } = envelope;
  const kind = status === 'DRAFT' ? 'draft' : hasEnded(envelope) ? 'ended' : 'sent';
  return { kind, id, status: status ?? 'SENT' };
}
