/** The default address at which a listener receives webhooks. */
export const LISTEN = { host: '127.0.0.1', port: 4242, path: '/webhooks' } as const;
/** The time limit for an application's response to a forward. */
export const FORWARD_TIMEOUT_MS = 30_000;
/** How long a stopped listener waits for open forwards. */
export const STOP_TIMEOUT_MS = 10_000;
/** The time limit for a receiver's response to a check of `events drill`. */
export const DRILL_TIMEOUT_MS = 5_000;
