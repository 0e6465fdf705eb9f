import type { HttpResponse } from '../api/response.ts';
import { matchesSchema, namedResponseSchema } from '../api/schemas.ts';
import { type OpenGate, openGate } from '../api/write-gate.ts';
import { LogRecorder, type RecorderOptions } from './recorder.ts';
import { readWrite, writeFactsOf } from './write-request.ts';

/** Creates a gate without guards that records each write, for programs. */
export function recordingGate(options: Omit<RecorderOptions, 'account'>): OpenGate {
  return (send, account) => {
    const recorder = new LogRecorder({ ...options, account });
    return {
      ...openGate(send, account),
      pass: (request) => {
        const facts = writeFactsOf(readWrite(request), request);
        return recorder.record(facts, (hooks) => send({ ...request, ...hooks }), envelopeIn);
      },
      resolve: (key, envelopeId) => recorder.resolve(key, envelopeId),
    };
  };
}

/** Returns the ID of the envelope in a response, or undefined without one that the client accepts. */
export function envelopeIn({ body }: HttpResponse): string | undefined {
  return matchesSchema(namedResponseSchema, body) ? body.data.id : undefined;
}
