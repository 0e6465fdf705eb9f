import { dirname, resolve } from 'node:path';
import type { Document, LineCounter } from 'yaml';
import { codeOf, type ErrorDetails, messageOf, UsageError } from '../../../kernel/errors.ts';
import { diskReason } from '../../../kernel/files/disk-reason.ts';
import { readRegularBytes } from '../../../kernel/files/regular-file.ts';
import { readUserFile } from '../../../kernel/files/user-file.ts';
import { isList, isRecord } from '../../../kernel/json.ts';
import type { SandboxSeed } from '../../embed-options.ts';
import { UPLOAD } from '../../model.ts';
import { checked } from '../base/validation.ts';
import { type CheckedSeed, type ReadSeed, seedSchema } from './schema.ts';

/** A seed to load, and how to report its errors. */
export interface Seed extends ReadSeed {
  /** Returns the error for problems by field, with the file and lines if known. */
  mistakes(details: ErrorDetails): UsageError;
}

/** The maximum number of errors to report. */
const MAX_PROBLEMS = 10;

/**
 * Reads a seed: a YAML or JSON file, or an object.
 * @throws UsageError with the line and field of each error.
 */
export async function readSeed(source: SandboxSeed | string): Promise<Seed> {
  if (typeof source === 'string') return readSeedText(source, await textOf(source));
  const mistakes = (details: ErrorDetails) => seedError('The seed', details, () => undefined);
  return parseSeed(source, process.cwd(), mistakes);
}

/** Reads the text of a seed. `path` is its file; `-` is stdin. @throws UsageError as `readSeed` does */
export async function readSeedText(path: string, text: string): Promise<Seed> {
  const { parseDocument, LineCounter: Lines } = await import('./yaml.ts');
  const lines = new Lines();
  // The parser compares each key with every other one, which takes minutes for 200,000 of them.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const name = path === '-' ? 'The seed on stdin' : path;
  const [broken] = document.errors;
  const mistake = broken ? { at: broken.pos[0], message: broken.message } : repeatedKey(document.contents);
  if (mistake !== undefined) {
    const { line } = lines.linePos(mistake.at);
    throw new UsageError(`${name} is neither YAML nor JSON: line ${line}: ${mistake.message}.`);
  }
  const itemOf = itemFinder();
  const mistakes = (details: ErrorDetails) =>
    seedError(name, details, (field) => lineOf(document, itemOf, lines, field.split('.')));
  const folder = path === '-' ? process.cwd() : dirname(resolve(path));
  return parseSeed(plainOf(document, name), folder, mistakes);
}

/** Converts a YAML document to a plain value. @throws UsageError for an alias without an anchor, or for aliases that expand too much. */
function plainOf(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    const unknown = /^Unresolved alias.*: (.+)$/.exec(messageOf(error))?.[1];
    const why =
      unknown === undefined ? 'its aliases expand to too much data' : `the alias *${unknown} has no anchor`;
    throw new UsageError(`${name} can't be read: ${why}.`, { cause: error });
  }
}

async function parseSeed(value: unknown, folder: string, mistakes: Seed['mistakes']): Promise<Seed> {
  const result = checked(seedSchema, value);
  if ('details' in result) throw mistakes(result.details);
  return { seed: result.data, pdfs: await pdfsOf(result.data, folder, mistakes), mistakes };
}

async function pdfsOf(
  { templates = [] }: CheckedSeed,
  folder: string,
  mistakes: Seed['mistakes'],
): Promise<Map<string, Uint8Array>> {
  const pdfs = new Map<string, Uint8Array>();
  for (const [index, { id, pdf }] of templates.entries()) {
    if (pdf === undefined) continue;
    const path = resolve(folder, pdf);
    const field = `templates.${index}.pdf`;
    const failed = (why: string) => mistakes({ [field]: [`Can't read ${path} (${why})`] });
    const bytes = await readRegularBytes(path, { maxBytes: UPLOAD.bytes + 1 }).catch((error: unknown) => {
      throw failed(diskReason(error));
    });
    if (bytes === undefined) throw failed('file not found');
    if (bytes.toString('latin1', 0, 5) !== '%PDF-') throw mistakes({ [field]: [`${path} is not a PDF`] });
    if (bytes.length > UPLOAD.bytes)
      throw mistakes({ [field]: [`${path} is larger than ${UPLOAD.bytes / 1_000_000} MB`] });
    pdfs.set(id, bytes);
  }
  return pdfs;
}

async function textOf(path: string): Promise<string> {
  try {
    return (await readUserFile(path)).toString('utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof UsageError || codeOf(error) === undefined) throw error;
    throw new UsageError(`Can't read the seed file ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check the path and its permissions.',
    });
  }
}

function seedError(
  name: string,
  details: ErrorDetails,
  lineFor: (field: string) => number | undefined,
): UsageError {
  const all = Object.entries(details)
    .flatMap(([field, texts]) => texts.map((text) => ({ field, text, line: lineFor(field) })))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const shown = all.slice(0, MAX_PROBLEMS).map(({ field, text, line }) => {
    const place = line === undefined ? '' : `line ${line}, `;
    return `${place}${field === 'body' ? '' : `${field}: `}${text}`;
  });
  const more = all.length - shown.length;
  return new UsageError(
    `${name} can't be used: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
    { hint: 'For the seed file format, see docs/testing.md. Nothing was loaded.' },
  );
}

/** Returns the line of a field, or that of its parent if the field is missing. */
function lineOf(
  { contents }: Document,
  itemOf: ReturnType<typeof itemFinder>,
  lines: LineCounter,
  path: readonly string[],
): number | undefined {
  let node: unknown = contents;
  let start = startOf(node);
  for (const name of path) {
    const item = itemOf(node, name);
    if (item === undefined) break;
    // The value of a field may start on a later line than its name.
    node = isRecord(item) && 'key' in item ? item.value : item;
    start = startOf(isRecord(item) && 'key' in item ? item.key : item) ?? startOf(node) ?? start;
  }
  return start === undefined ? undefined : lines.linePos(start).line;
}

/** Returns a function that finds the item of a YAML list, or the pair of a map, by its name in constant time. */
function itemFinder() {
  const known = new WeakMap<object, Map<string, unknown>>();
  return (node: unknown, name: string): unknown => {
    if (!isRecord(node) || !isList(node.items)) return undefined;
    const pairs = known.get(node) ?? new Map(node.items.filter(isPair).map((one) => [keyOf(one), one]));
    known.set(node, pairs);
    return pairs.size > 0 ? pairs.get(name) : node.items[Number(name)];
  };
}

/** Returns the first duplicate key of a map. */
function repeatedKey(root: unknown): { at: number; message: string } | undefined {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const items = isRecord(node) && isList(node.items) ? node.items : [];
    const key = repeatedIn(items);
    if (key !== undefined) return { at: startOf(key) ?? 0, message: 'Map keys must be unique' };
    for (const item of items) open.push(isPair(item) ? item.value : item);
  }
  return undefined;
}

function repeatedIn(items: readonly unknown[]): unknown {
  const seen = new Set<string>();
  for (const pair of items.filter(isPair)) {
    const name = keyOf(pair);
    if (seen.has(name)) return pair.key;
    seen.add(name);
  }
  return undefined;
}

/** Returns the offset at which a node of the document starts. */
function startOf(node: unknown): number | undefined {
  const start = isRecord(node) && isList(node.range) ? node.range[0] : undefined;
  return typeof start === 'number' ? start : undefined;
}

function isPair(item: unknown): item is { key: unknown; value: unknown } {
  return isRecord(item) && 'key' in item && 'value' in item;
}

/** Returns the property name of a key in the resulting object. */
function keyOf({ key }: { key: unknown }): string {
  return String(isRecord(key) && 'value' in key ? key.value : key);
}
