// The listener's updates. After a break, the browser reconnects and sends the ID of the last one.
const AGAIN_MS = 2_000;

/**
 * Calls `onStart` with the listener, `onDeliveries` with each batch of rows and whether they are new, and `onState` with
 * live or waiting.
 */
export function follow({ onStart, onDeliveries, onState }) {
  let seen = 0;
  let before = 0;
  const open = () => {
    const source = new EventSource(`news?after=${seen}`);
    source.addEventListener('start', (message) => {
      const start = JSON.parse(message.data);
      before = start.change;
      onState('live');
      onStart(start);
    });
    source.addEventListener('deliveries', (message) => {
      seen = Number(message.lastEventId);
      onDeliveries(JSON.parse(message.data), seen > before);
    });
    source.addEventListener('error', () => {
      onState('waiting');
      if (source.readyState !== EventSource.CLOSED) return;
      // The browser gave up, as after an error response; a new source doesn't know the last ID.
      setTimeout(open, AGAIN_MS);
    });
    window.addEventListener('pagehide', () => source.close(), { once: true });
  };
  open();
}
