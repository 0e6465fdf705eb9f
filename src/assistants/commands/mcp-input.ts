import type { FlagInput } from '@oclif/core/interfaces';
import * as z from 'zod';
import { isList } from '../../kernel/json.ts';

export type ToolArguments = Record<string, unknown>;

/** Parses the arguments of a command line with its flags. */
export type ParseFlags = <F extends ToolArguments>(flags: FlagInput<F>, argv: string[]) => Promise<F>;

/** Without a maximum, the schema would show the largest safe integer. */
const MAX_NUMBER = 10_000;

type FlagDefinition = FlagInput[string];

/** Returns the schema of a tool's arguments: the named flags of a command, in camel case. */
export function schemaOf(flags: FlagInput, names: readonly string[], required: readonly string[]) {
  return Object.fromEntries(
    names.map((name) => {
      const flag = definitionOf(flags, name);
      const kind = kindOf(flag);
      const value = required.includes(name) ? kind : kind.optional();
      return [camelCase(name), value.describe(descriptionOf(flag))];
    }),
  );
}

/** Returns the description of a flag and, if it says more than a word does, the form of its value. */
function descriptionOf(flag: FlagDefinition): string {
  const text = (flag.description ?? '').replace(/; can be repeated.*/, '');
  const form = helpValueOf(flag);
  return flag.type === 'boolean' || flag.options || /^[A-Z,]*$/.test(form) ? text : `${text} (${form})`;
}

function kindOf(flag: FlagDefinition): z.ZodType {
  if (flag.type === 'boolean') return z.boolean();
  if (flag.multiple || hasCommas(flag)) return z.array(z.string());
  if (flag.options) return z.enum([...flag.options]);
  return 'min' in flag ? z.int().min(1).max(MAX_NUMBER) : z.string();
}

/** Returns the arguments of a call as flags, which the command's own parser reads. */
export function argvOf(flags: FlagInput, names: readonly string[], given: ToolArguments): string[] {
  return names.flatMap((name) => {
    const value = given[camelCase(name)];
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    const values = isList(value) ? value.map(String) : [String(value)];
    const isOne = hasCommas(definitionOf(flags, name));
    return (isOne ? [values.join(',')] : values).map((one) => `--${name}=${one}`);
  });
}

function definitionOf(flags: FlagInput, name: string): FlagDefinition {
  const flag = flags[name];
  if (flag === undefined) throw new Error(`There is no flag --${name}.`);
  return flag;
}

/** Returns true for a flag whose values are separated by commas. */
function hasCommas(flag: FlagDefinition): boolean {
  return helpValueOf(flag).includes(',');
}

function helpValueOf(flag: FlagDefinition): string {
  return 'helpValue' in flag ? String(flag.helpValue) : '';
}

function camelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
