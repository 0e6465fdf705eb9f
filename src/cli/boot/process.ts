import { createRecents } from '../../completion/recent.ts';
import { secretsOf } from '../../kernel/process/child-environment.ts';
import { createRedactor } from '../../kernel/redaction.ts';
import { watchSignals } from '../signals.ts';
import type { Noted } from './recents.ts';

/*
 * What belongs to the process as a whole: oclif makes the command objects itself,
 * so these cannot be handed to them.
 */

/** Every secret of this run is made known here before it is used. */
export const redactor = createRedactor(secretsOf(process.env));

/** Aborts at Ctrl-C; see signals.ts. */
export const signals = watchSignals();

/** What this run has seen of the service, for completing it later. */
export const noted: Noted = { recents: createRecents(), scope: undefined, feed: undefined };

/** The words after `esign`, as they were given. */
export const commandLine: { words: readonly string[] } = { words: [] };
