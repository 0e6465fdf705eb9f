import { command } from '../../kernel/text/shell-words.ts';
import { EVENTS } from '../../kernel/vocabulary.ts';
import { html } from '../../pages/html.ts';
import { servedPage } from '../../pages/layout.ts';

/** Returns the page without deliveries, which its script adds. `listensAt` is the address at which webhooks are received. */
export function inspectorPage(listensAt: string): string {
  const body = html`<header class="top">
<h1 class="row"><img src="assets/icon.svg" alt="" width="22" height="22"> Webhooks</h1>
<p class="address"><span class="quiet">at</span> <code>${listensAt}</code> <button type="button" class="small" data-copy hidden>Copy</button></p>
<p class="row connection warn" id="connection" role="status">Connecting</p>
</header>
<main>
<section class="inbox" aria-label="Deliveries">
<search><form class="filters" id="filters">
<input type="search" name="text" aria-label="Search deliveries" placeholder="Search, including bodies and headers" autocomplete="off" spellcheck="false">
<select name="event" aria-label="Event"><option value="">All events</option>${EVENTS.map((event) => html`<option>${event}</option>`)}</select>
<select name="state" aria-label="Signature">
<option value="">Any signature</option>
<option value="verified">Verified</option>
<option value="refused">Refused</option>
<option value="unchecked">Not checked</option>
</select>
</form></search>
<p class="count quiet"><span id="count" role="status">No deliveries yet</span> <button type="reset" form="filters" class="link" id="clear" hidden>Clear filters</button></p>
<ol class="list" id="list" aria-label="Deliveries, newest first"></ol>
<div class="empty quiet" id="empty">
<h3>Waiting for the first delivery</h3>
<p>Use the address above as <code>--webhook-url</code> when you create an envelope, or send a test webhook:</p>
<pre><code>${command('events', 'trigger', 'completed', '--to', listensAt, '--secret-file', 'FILE')}</code></pre>
</div>
</section>
<section class="detail" id="detail" tabindex="-1" aria-label="Opened delivery"></section>
</main>
<noscript><p class="empty">This page needs JavaScript to show deliveries as they arrive.</p></noscript>`;
  const files = ['inspector.css', 'inspector.js'];
  return servedPage({ title: 'Webhooks · esign', look: 'inspector', body }, 'assets/', files);
}
