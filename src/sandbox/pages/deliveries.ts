import { html } from 'hono/html';
import type { DeliveryRecord } from '../model.ts';
import { postButton, state, table, when } from './layout.ts';
import type { Paged } from './paging.ts';

/** Every webhook, newest first. `form` is the token that a replay must carry. */
export function deliveryList(page: Paged<DeliveryRecord>, form: string) {
  return html`<h1>Webhooks</h1>
    ${deliveryTable(page.shown, form, 'None sent. Create an envelope with --webhook-url.')} ${page.links}`;
}

export function deliveryTable(deliveries: readonly DeliveryRecord[], form: string, empty: string) {
  const head = ['Created', 'Event', 'Envelope', 'State', 'Tries', ''];
  return table(
    head,
    deliveries.map((one) => row(one, form)),
    empty,
  );
}

function row(one: DeliveryRecord, form: string): unknown[] {
  const last = one.attempts.at(-1);
  const tries = `${one.attempts.length}${last ? ` (${last.status ?? last.error ?? ''})` : ''}`;
  return [
    when(one.createdAt),
    one.event,
    html`<a href="/envelopes/${one.envelopeId}"><code>${one.envelopeId}</code></a>`,
    state(one.state),
    tries,
    postButton(`/deliveries/${one.id}/replay`, 'Replay', form),
  ];
}
