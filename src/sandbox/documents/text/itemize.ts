import bidiFactory, { type EmbeddingLevels } from 'bidi-js';
import { type Face, type Faces, hasGlyph, type Use } from './faces.ts';
import { protect, shownCodePoint } from './untrusted.ts';

/** A range of text with one face, one script, and one direction. */
export interface Item {
  /** The range of the item: `start` and `end` are offsets in `text`. */
  start: number;
  end: number;
  /** The whole text, so that letters can join across items. */
  text: string;
  /** The face; null if no font has the characters, in which case each is shown as its code point. */
  face: Face | null;
  script: string | undefined;
  /** The embedding level; odd means right to left. */
  level: number;
}

export type BaseDirection = 'ltr' | 'rtl' | 'auto';

const bidi = bidiFactory();
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Characters that only affect their neighbors. They are never drawn, and no font needs to have them. */
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}]$/u;

const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Latin}/u, 'Latn'],
  [/\p{Script=Greek}/u, 'Grek'],
  [/\p{Script=Cyrillic}/u, 'Cyrl'],
  [/\p{Script=Arabic}/u, 'Arab'],
  [/\p{Script=Hebrew}/u, 'Hebr'],
  [/\p{Script=Devanagari}/u, 'Deva'],
  [/\p{Script=Thai}/u, 'Thai'],
  [/\p{Script=Han}/u, 'Hani'],
  [/\p{Script=Hiragana}/u, 'Hira'],
  [/\p{Script=Katakana}/u, 'Kana'],
  [/\p{Script=Hangul}/u, 'Hang'],
];

/**
 * Splits a line into items in the order in which they appear from left to right
 * (Unicode Bidirectional Algorithm, rule L2).
 */
export function itemize(faces: Faces, line: string, use: Use, base: BaseDirection): Item[] {
  const text = protect(line);
  const embedding = bidi.getEmbeddingLevels(text, base);
  const items: Item[] = [];
  for (const { segment, index } of graphemes.segment(text)) {
    for (const item of clusterItems(faces, segment, use)) {
      const level = embedding.levels[index] ?? 0;
      join(items, { ...item, text, level, start: index + item.start, end: index + item.end });
    }
  }
  return inVisualOrder(items);
}

/** Returns the direction of a paragraph, which is that of its first strong character. */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const { paragraphs }: EmbeddingLevels = bidi.getEmbeddingLevels(protect(text), 'auto');
  return (paragraphs[0]?.level ?? 0) % 2 === 1 ? 'rtl' : 'ltr';
}

/** Returns true if the face of this use has every character. */
export function covers(faces: Faces, text: string, use: Use): boolean {
  const face = faces.byUse(use);
  return [...graphemes.segment(protect(text))].every(({ segment }) => faceCovers(face, segment));
}

type ClusterItem = Pick<Item, 'start' | 'end' | 'face' | 'script'>;

function clusterItems(faces: Faces, cluster: string, use: Use): ClusterItem[] {
  const visible = [...cluster].filter((character) => !INVISIBLE.test(character));
  const [first] = visible;
  if (first === undefined) return [];
  const script = scriptOf(cluster);
  const face = faces.find(first.codePointAt(0) ?? 0, use, (candidate) => faceCovers(candidate, cluster));
  if (face) return [{ start: 0, end: cluster.length, face, script }];
  return characterItems(faces, cluster, use, script);
}

/** Returns the items of a cluster that no single face covers, character by character. */
function characterItems(faces: Faces, cluster: string, use: Use, script: string | undefined): ClusterItem[] {
  const items: ClusterItem[] = [];
  let start = 0;
  for (const character of cluster) {
    const codePoint = character.codePointAt(0) ?? 0;
    const end = start + character.length;
    if (!INVISIBLE.test(character)) {
      const isShown = shownCodePoint(codePoint) !== undefined;
      const face = isShown
        ? undefined
        : faces.find(codePoint, use, (candidate) => hasGlyph(candidate, codePoint));
      items.push({ start, end, face: face ?? null, script });
    }
    start = end;
  }
  return items;
}

function faceCovers(face: Face, cluster: string): boolean {
  const has = (text: string): boolean =>
    [...text].every(
      (character) => INVISIBLE.test(character) || hasGlyph(face, character.codePointAt(0) ?? 0),
    );
  return has(cluster) || has(cluster.normalize('NFC'));
}

function scriptOf(cluster: string): string | undefined {
  return SCRIPTS.find(([pattern]) => pattern.test(cluster))?.[1];
}

/** Extends the last item if only the text differs; otherwise, appends the next item. */
function join(items: Item[], next: Item): void {
  const last = items.at(-1);
  const sameScript = last?.script === undefined || next.script === undefined || last.script === next.script;
  if (last && last.end === next.start && last.face === next.face && last.level === next.level && sameScript) {
    last.end = next.end;
    last.script ??= next.script;
    return;
  }
  items.push(next);
}

function inVisualOrder(items: Item[]): Item[] {
  const ordered = [...items];
  const highest = Math.max(0, ...items.map(({ level }) => level));
  for (let level = highest; level > 0; level--) {
    let start = 0;
    while (start < ordered.length) {
      let end = start;
      while ((ordered[end]?.level ?? -1) >= level) end++;
      ordered.splice(start, end - start, ...ordered.slice(start, end).reverse());
      start = end + 1;
    }
  }
  return ordered;
}
