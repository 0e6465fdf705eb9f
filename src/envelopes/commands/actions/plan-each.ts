import { READ_CONCURRENCY } from '../../../api/request-defaults.ts';
import type { Context } from '../../../cli/session/context.ts';
import { stateDir } from '../../../kernel/files/paths.ts';
import { collectAll, mapInOrder } from '../../../kernel/streams.ts';
import { logFolder } from '../../../log/log-folder.ts';
import { readReminders } from '../../../log/read-log.ts';
import type { ActionContext, EnvelopeAction, Plan } from '../../plan-writes.ts';
import { rolesReader } from '../template-roles.ts';
import type { TargetEnvelopes } from './named-or-selected.ts';

export async function actionContext(context: Context): Promise<ActionContext> {
  const { session, interrupt } = context;
  return {
    client: await session.client(),
    signal: interrupt.signal,
    rolesOf: rolesReader(context),
    readReminders: async () => readReminders(logFolder(stateDir()), await session.baseUrl()),
  };
}

/** Plans the action on each envelope, in order. Changes nothing. */
export function planEach(action: EnvelopeAction, { ids, selected }: TargetEnvelopes): Promise<Plan[]> {
  return collectAll(mapInOrder(ids, READ_CONCURRENCY, (id) => action.plan(id, selected?.get(id))));
}
