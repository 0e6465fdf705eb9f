// The news of the listener. The browser comes back by itself after a break and says what it has seen last.
const AGAIN_MS = 2_000;

/**
 * Calls `onStart` with what the listener is, `onDeliveries` with each bunch of rows and whether they came just now, and `onState` with
 * live, waiting or gone.
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
      // It has given up, as after a refusal; a new one does not know where the old one was.
      setTimeout(open, AGAIN_MS);
    });
    window.addEventListener('pagehide', () => source.close(), { once: true });
  };
  open();
}
