import { counted, grouped, HOUR_MS } from '../../kernel/duration.ts';
import { copyableText, dateTime } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import type { EnvelopeRecord } from '../model.ts';
import { isActive } from '../service/engine/predicates.ts';
import type { StoreState } from '../service/store/state.ts';
import { envelopeTable, NO_ENVELOPES } from './envelopes.ts';
import { CREATE_COMMAND, postButton } from './layout.ts';

/** The number of envelopes on the dashboard. */
const NEWEST = 10;
/** The durations by which the buttons move the clock, in ms. */
export const CLOCK_STEPS = new Map([
  ['1h', HOUR_MS],
  ['1d', 24 * HOUR_MS],
  ['7d', 7 * 24 * HOUR_MS],
  ['31d', 31 * 24 * HOUR_MS],
]);

/** Returns the dashboard: the sandbox's contents and how to use it. */
export function dashboard(records: StoreState, context: { origin: string; now: string }) {
  const newest = { start: 0, count: NEWEST, from: 'newest' } as const;
  const { items, total } = records.envelopePage(records.orgId, newest);
  return html`<h1>Local e-signature sandbox</h1>
    <p>Base URL <code>${context.origin}/api/v1</code> · <a href="/openapi.yaml">OpenAPI description</a></p>
    ${total === 0 ? '' : copyableText(CREATE_COMMAND)}
    <ul class="tiles">
      ${tiles(records).map(
        ([label, count, path]) =>
          html`<li><a class="card tile" href="${path}"><strong>${grouped(count)}</strong> ${label}</a></li>`,
      )}
    </ul>
    <section class="card" id="clock" aria-labelledby="clock-title">
      <h2 id="clock-title">Clock</h2>
      <div class="row">
        <span>${dateTime(context.now)}</span>
        ${[...CLOCK_STEPS.keys()].map((step) => postButton(`/clock/${step}`, `+${step}`))}
      </div>
      <p class="quiet">When you advance the clock, envelopes expire and webhooks are retried.</p>
    </section>
    <h2>Latest envelopes</h2>
    ${envelopeTable(items, NO_ENVELOPES)}
    ${total > NEWEST ? html`<p><a href="/envelopes">All ${counted(total, 'envelope')}</a></p>` : ''}`;
}

function tiles(records: StoreState): [label: string, count: number, path: string][] {
  const own = [...records.envelopes.values()].filter(({ orgId }) => orgId === records.orgId);
  const having = (wanted: (one: EnvelopeRecord) => boolean) => own.filter(wanted).length;
  const failed = [...records.deliveries.values()].filter(({ state }) => state === 'failed').length;
  return [
    ['envelopes', own.length, '/envelopes'],
    ['waiting for signers', having(isActive), '/envelopes?status=OPEN'],
    ['completed', having(({ status }) => status === 'COMPLETED'), '/envelopes?status=COMPLETED'],
    ['declined', having(({ status }) => status === 'DECLINED'), '/envelopes?status=DECLINED'],
    ['emails', records.mails.size, '/mailbox'],
    ['failed webhooks', failed, '/deliveries'],
  ];
}
