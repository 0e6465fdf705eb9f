import { UsageError } from '../../kernel/errors.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { EVENTS } from '../../kernel/vocabulary.ts';

/** Parses event names separated by commas, with or without `envelope.`. @throws UsageError for an unknown one */
export function parseEventNames(text: string | undefined): Set<string> | undefined {
  return text === undefined ? undefined : new Set(text.split(',').map(parseEventName));
}

/** Returns the full name of an event. */
export function parseEventName(text: string): string {
  const word = text.trim().toLowerCase();
  const name = word.includes('.') ? word : `envelope.${word}`;
  if (EVENTS.some((known) => known === name)) return name;
  const suggestion = nearest(name, EVENTS);
  throw new UsageError(`Unknown event "${name}".`, {
    hint: `${suggestion ? `Did you mean ${suggestion}? ` : ''}The events are ${EVENTS.join(', ')}.`,
  });
}
