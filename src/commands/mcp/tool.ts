import type { McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import type { Context } from '../../cli/context.ts';
import { addKnownSecrets } from '../../cli/known-secrets.ts';
import { failure, resultOf } from './reply.ts';

export interface Tool {
  name: string;
  register: (server: McpServer) => void;
}

export interface ToolFacts<Input extends z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  hints: ToolAnnotations;
  /** Returns the result. */
  run: (input: z.infer<Input>) => Promise<Record<string, unknown>>;
}

/** Creates a tool whose results contain no secrets and whose errors are returned as results. */
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
          // More secrets may have been stored since the last call.
          await addKnownSecrets(context);
          return resultOf(await run(input.parse(given)), redactor);
        } catch (error) {
          return failure(error, redactor);
        }
      });
    },
  };
}

/** The tool changes nothing. */
export const READ_ONLY_HINTS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const satisfies ToolAnnotations;
