import type { McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import type { Context } from '../../cli/context.ts';
import { learnSecrets } from '../../cli/known-secrets.ts';
import { answer, failure } from './reply.ts';

/** One thing that an assistant can ask for. */
export interface Tool {
  name: string;
  register: (server: McpServer) => void;
}

export interface ToolFacts<Input extends z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  hints: ToolAnnotations;
  /** What is answered. */
  run: (input: z.infer<Input>) => Promise<Record<string, unknown>>;
}

/** A tool whose answers have no secret, and whose failures are answers, too. */
export function tool<Input extends z.ZodObject>(facts: ToolFacts<Input>, context: Context): Tool {
  const { redactor } = context.terminal;
  const { name, description, input, hints, run } = facts;
  const config: { description: string; inputSchema: z.ZodObject; annotations: ToolAnnotations } = {
    description,
    inputSchema: input,
    annotations: hints,
  };
  return {
    name,
    register: (server) => {
      server.registerTool(name, config, async (given) => {
        try {
          // Others may have been made since the last call.
          await learnSecrets(context);
          return answer(await run(input.parse(given)), redactor);
        } catch (error) {
          return failure(error, redactor);
        }
      });
    },
  };
}

/** Nothing is changed anywhere. */
export const LOOKS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const satisfies ToolAnnotations;
