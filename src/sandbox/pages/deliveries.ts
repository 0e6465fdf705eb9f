import { emptyState, statusChip, table, timeWithAge } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { DeliveryRecord } from '../model.ts';
import { type PagedList, postButton } from './layout.ts';

const NO_WEBHOOKS = emptyState(
  'No webhooks yet',
  'Start a listener in one terminal, and create an envelope with its URL in another:',
  'esign listen\nesign envelopes create --template tmpl_nda --signer ada@example.com --webhook-url http://127.0.0.1:4242/ --send',
);

/** Returns the list of webhooks, newest first. */
export function deliveryList(page: PagedList<DeliveryRecord>) {
  return html`<h1>Webhooks</h1>
    ${deliveryTable(page.shown, NO_WEBHOOKS)} ${page.links}`;
}

export function deliveryTable(deliveries: readonly DeliveryRecord[], whenEmpty: Html | string) {
  const head = ['Created', 'Event', 'Envelope', 'Status', 'Attempts', ''];
  return table(head, deliveries.map(row), whenEmpty);
}

function row(one: DeliveryRecord) {
  const last = one.attempts.at(-1);
  const attempts = html`${one.attempts.length}${last ? html` <span class="quiet">${last.status ?? last.error ?? ''}, ${last.ms} ms</span>` : ''}`;
  return [
    timeWithAge(one.createdAt),
    one.event,
    html`<a href="/envelopes/${one.envelopeId}"><code>${one.envelopeId}</code></a>`,
    statusChip(one.state),
    attempts,
    postButton(`/deliveries/${one.id}/replay`, 'Replay'),
  ];
}
