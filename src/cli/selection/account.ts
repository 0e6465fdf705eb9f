import type { Envelope } from '../../api/schemas.ts';
import { RunMembers } from '../../envelopes/run-members.ts';
import { selectEnvelopes, selectionFilter, withSigners } from '../../envelopes/select.ts';
import { timeOf } from '../../kernel/clock.ts';
import {
  type AccountEnvelopes,
  type AccountOptions,
  accountEnvelopes,
} from '../../statistics/account-envelopes.ts';
import type { Context } from '../context.ts';
import { IndexProgressLine } from './index-progress.ts';
import { whyUnusable } from './search.ts';

/** Returns the envelopes of the account: from the index or, where none is kept, all of them from the service. */
export async function readAccount(
  wanted: Pick<AccountOptions, 'selection' | 'scope'>,
  context: Context,
): Promise<AccountEnvelopes> {
  const { session, terminal, interrupt } = context;
  const index = await session.index();
  if (index === undefined) return fromService(wanted, context);
  const line = new IndexProgressLine(context);
  try {
    return await accountEnvelopes(index, {
      ...wanted,
      now: () => session.now(),
      signal: interrupt.signal,
      onProgress: (progress) => line.show(progress),
    });
  } catch (error) {
    const why = whyUnusable(error);
    if (why === undefined) throw error;
    await line.stop();
    terminal.notice(`${why}; every envelope is read from the service.`);
    return await fromService(wanted, context);
  } finally {
    await line.stop();
  }
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
  for await (const one of withSigners(client, listed, signal)) {
    envelopes.push(one);
    members?.add(one.id, timeOf(one.createdAt), one.metadata);
  }
  const matches = selectionFilter(rest, session.now());
  return { envelopes, isSelected: (one) => (members?.has(one.id) ?? true) && matches(one) };
}
