/** How often a watch polls while something changes, and while nothing does. */
export const WATCH_PACE = { intervalMs: 5_000, quietMs: 60_000 } as const;
/** A reminder sent within this time is reported before another one. */
export const RECENT_REMINDER_MS = 3_600_000;
/** The gap between two reminders to the same signer that commands suggest and MCP tools use. */
export const REMINDER_GAP = '24h';
