import type { Client } from '../../api/client.ts';
import { readPage } from '../../api/pages.ts';
import { isRecord } from '../../kernel/json.ts';
import { type DoctorFinding, failed, ok, warning } from './check.ts';

const NAME = 'lists';
/** How many of the first envelopes are looked at. */
const SAMPLE = 20;

/** Shows what the service's list of envelopes contains, which the API document leaves open and `find`, `bulk`, and a lost reply depend on. */
export async function checkLists(client: Client, signal: AbortSignal): Promise<DoctorFinding> {
  try {
    const request = { path: '/esign/envelopes', pageSize: SAMPLE, signal };
    const { items, total } = await readPage(client.send, request, 1);
    const envelopes = items.filter(isRecord);
    if (envelopes.length === 0) return ok(NAME, 'no envelopes yet');
    const has = (key: string) => envelopes.every((one) => one[key] !== undefined);
    const facts = [
      orderOf(envelopes),
      total === undefined ? 'no total' : 'total',
      has('signers') ? 'signers' : 'no signers',
      has('metadata') ? 'metadata' : 'no metadata',
    ].join(', ');
    if (has('metadata')) return ok(NAME, facts);
    return warning(
      NAME,
      facts,
      'Each envelope of a list has to be read separately to find it by its metadata, which takes more requests.',
    );
  } catch (error) {
    if (signal.aborted) throw error;
    return failed(NAME, error);
  }
}

/** Returns the order of the list by creation time. */
function orderOf(envelopes: readonly Record<string, unknown>[]): string {
  const times = envelopes.map(({ createdAt }) =>
    typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN,
  );
  const isSorted = (sign: 1 | -1) =>
    times.every((time, index) => index === 0 || sign * time >= sign * (times[index - 1] ?? Number.NaN));
  if (times.length < 2) return 'order unknown (fewer than two envelopes)';
  if (isSorted(-1)) return 'newest first';
  return isSorted(1) ? 'oldest first' : 'no order';
}
