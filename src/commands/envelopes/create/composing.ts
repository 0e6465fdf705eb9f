import type { Envelope, Template } from '../../../api/schemas.ts';
import type { PromptSession } from '../../../cli/prompts/prompts.ts';
import type { Composition, Contact } from '../../../envelopes/composition.ts';
import type { EnvelopeInput } from '../../../envelopes/create.ts';

export interface ComposeInput {
  templateId: string | undefined;
  /** The envelope as set by the flags, with no signers if none were given. */
  envelope: Omit<EnvelopeInput, 'templateId'>;
  /** Flags to repeat in the equivalent command. */
  options: readonly (readonly [string, string | true])[];
  /** From --request-id. */
  requestId: string | undefined;
  /** Only shows the request. */
  dryRun: boolean;
}

/** Templates, recent envelopes, and their signers, read before the first question. */
export interface ComposeSuggestions {
  templates: readonly Template[];
  recent: readonly Envelope[];
  people: readonly Contact[];
}

/** An envelope that is being composed in a conversation. */
export interface Composing {
  composition: Composition;
  known: ComposeSuggestions;
  conversation: PromptSession;
}

/** A composed envelope, and the command that creates it with a request ID and without prompts. */
export interface Composed {
  wanted: EnvelopeInput;
  command: (requestId: string) => string;
}
