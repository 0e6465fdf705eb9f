import { isList, isRecord } from '../../../kernel/json.ts';

/** Finds the items of YAML collections by name, in constant time. */
export class NodeIndex {
  readonly #pairs = new WeakMap<object, Map<string, unknown>>();

  /** Returns the item of a list, or the pair of a map. */
  item(node: unknown, name: string): unknown {
    if (!isRecord(node) || !isList(node.items)) return undefined;
    let pairs = this.#pairs.get(node);
    if (pairs === undefined) {
      pairs = new Map(node.items.flatMap((one) => (isPair(one) ? [[keyOf(one), one] as const] : [])));
      this.#pairs.set(node, pairs);
    }
    return pairs.size > 0 ? pairs.get(name) : node.items[Number(name)];
  }
}

/** Returns the first duplicate key of a map. */
export function repeatedKey(root: unknown): { at: number; message: string } | undefined {
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
export function startOf(node: unknown): number | undefined {
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
