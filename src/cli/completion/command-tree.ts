import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../../kernel/json.ts';

const word = z.optional(z.string());
const flag = z.optional(z.boolean());
const names = z.optional(z.array(z.string()));
const options = names;

const flagSchema = z.looseObject({
  name: z.string(),
  char: word,
  type: z.string(),
  description: word,
  helpValue: word,
  helpGroup: word,
  hidden: flag,
  allowNo: flag,
  multiple: flag,
  required: flag,
  options,
  exclusive: names,
  dependsOn: names,
});
export type FlagFacts = z.infer<typeof flagSchema>;

const argSchema = z.looseObject({
  name: z.string(),
  description: word,
  hidden: flag,
  required: flag,
  options,
});
export type ArgFacts = z.infer<typeof argSchema>;

const commandSchema = z.looseObject({
  summary: word,
  description: word,
  hidden: flag,
  strict: flag,
  args: z.record(z.string(), argSchema),
  flags: z.record(z.string(), flagSchema),
});
export type CommandFacts = z.infer<typeof commandSchema>;

const manifestSchema = z.looseObject({ commands: z.record(z.string(), commandSchema) });
const topicsSchema = z.looseObject({
  oclif: z.looseObject({ topics: z.record(z.string(), z.looseObject({ description: word })) }),
});

/** Every command with its flags, by ID (`envelopes:list`), and the description of each topic. */
export interface CommandTree {
  commands: Readonly<Record<string, CommandFacts>>;
  topics: Readonly<Record<string, string>>;
}

/** Returns the commands of this installation from the manifest written by the build. No command is loaded. */
export function readCommandTree(root: string): CommandTree {
  const { commands } = manifestSchema.parse(read(root, 'oclif.manifest.json'));
  const { topics } = topicsSchema.parse(read(root, 'package.json')).oclif;
  const described: Record<string, string> = {};
  for (const [name, { description }] of Object.entries(topics))
    described[name] = description?.split('\n')[0] ?? '';
  return { commands, topics: described };
}

function read(root: string, name: string): unknown {
  return parseJson(readFileSync(join(root, name), 'utf8'));
}
