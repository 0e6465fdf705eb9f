/** Where a listener receives webhooks. */
export const LISTEN = { host: '127.0.0.1', port: 4242, path: '/webhooks' } as const;
/** How long an application may take to respond to a forward. */
export const FORWARD_TIMEOUT_MS = 30_000;
/** How long forwarding continues after a stop. */
export const DRAIN_MS = 10_000;
/** How long a receiver may take to respond to a check of `events drill`. */
export const DRILL_TIMEOUT_MS = 5_000;
/** What `events gaps` compares, and how long a delivery may take before it counts as missing. */
export const GAPS = { spanMs: 86_400_000, graceMs: 60_000 } as const;
