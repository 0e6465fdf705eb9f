import type { Envelope } from '../../api/schemas.ts';
import { timeOf } from '../../kernel/clock.ts';
import type { Context } from '../../session/context.ts';
import { type AccountEnvelopes, type AccountOptions, accountEnvelopes } from '../account-envelopes.ts';
import { isWholeItem } from '../match.ts';
import { RunMembers } from '../run-members.ts';
import { completeItems, selectEnvelopes, selectionFilter } from '../select.ts';
import { fromIndex } from './select-envelopes.ts';

/** Returns all envelopes of the account, from the index or, if it is disabled, from the service. */
export async function readAccount(
  wanted: Pick<AccountOptions, 'selection' | 'scope'>,
  context: Context,
): Promise<AccountEnvelopes> {
  const known = await fromIndex(
    (index, running) => accountEnvelopes(index, { ...wanted, ...running }),
    context,
  );
  return known ?? fromService(wanted, context);
}

async function fromService(
  { selection: { run, ...rest }, scope }: Pick<AccountOptions, 'selection' | 'scope'>,
  { session, interrupt }: Context,
): Promise<AccountEnvelopes> {
  const client = await session.client();
  const { signal } = interrupt;
  const listed = selectEnvelopes(client, scope === 'all' ? {} : { ...rest, run }, { signal });
  const members = scope === 'all' && run ? new RunMembers(run) : undefined;
  const envelopes: Envelope[] = [];
  for await (const one of completeItems(client, listed, isWholeItem, signal)) {
    envelopes.push(one);
    members?.add(one.id, timeOf(one.createdAt), one.metadata);
  }
  const matches = selectionFilter(rest, session.now());
  return { envelopes, isSelected: (one) => (members?.has(one.id) ?? true) && matches(one) };
}
