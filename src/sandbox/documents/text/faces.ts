import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Blob, Font, Face as HarfBuzzFace } from 'harfbuzzjs';
import { type FontList, fontFolder, readFontList } from './folder.ts';

/** The use of a text. Each use has its own face; all of them share the fallbacks for other scripts. */
export type Use = 'text' | 'strong' | 'hand' | 'mono';

/** An open font file. */
export interface Face {
  /** The file name without its extension. */
  name: string;
  data: Buffer;
  font: Font;
  unitsPerEm: number;
}

/** The fonts in a folder. A file is opened when a text first needs it, and stays open. */
export interface Faces {
  byUse(use: Use): Face;
  /** Returns the first accepted face: the use's own face, then the fallbacks that list the character. */
  find(codePoint: number, use: Use, accepts: (face: Face) => boolean): Face | undefined;
}

const EMOJI = /^\p{Emoji_Presentation}/u;

/** Opens the folder that `fontFolder()` finds. Throws if it doesn't exist. */
export function openFaces(folder: string = fontFolder()): Faces {
  const list = readFontList(folder);
  const open = new Map<string, Face>();
  const face = (file: string): Face => {
    const known = open.get(file);
    if (known) return known;
    const opened = openFace(folder, file);
    open.set(file, opened);
    return opened;
  };
  const byUse = (use: Use): Face => {
    const entry = list.faces.find((candidate) => candidate.use === use);
    if (!entry) throw new Error(`The font folder has no font for ${use}.`);
    return face(entry.file);
  };
  return {
    byUse,
    find(codePoint, use, accepts) {
      const ownFace = (): Face | undefined => ownUses(use).map(byUse).find(accepts);
      const fallback = (): Face | undefined => {
        for (const file of fallbackFiles(list, codePoint)) if (accepts(face(file))) return face(file);
        return undefined;
      };
      // The text faces also have a few emoji, as plain symbols.
      return EMOJI.test(String.fromCodePoint(codePoint))
        ? (fallback() ?? ownFace())
        : (ownFace() ?? fallback());
    },
  };
}

/** Returns true if the face has a glyph for the character itself. */
export function hasGlyph(face: Face, codePoint: number): boolean {
  return (face.font.nominalGlyph(codePoint) ?? 0) !== 0;
}

function ownUses(use: Use): Use[] {
  return use === 'text' || use === 'strong' ? [use] : [use, 'text'];
}

function fallbackFiles(list: FontList, codePoint: number): string[] {
  return list.fallbacks
    .filter(({ ranges }) => ranges.some(([first, last]) => codePoint >= first && codePoint <= last))
    .map(({ file }) => file);
}

function openFace(folder: string, file: string): Face {
  const data = readFileSync(join(folder, file));
  const face = new HarfBuzzFace(new Blob(data));
  return { name: file.replace(/\.\w+$/, ''), data, font: new Font(face), unitsPerEm: face.upem };
}
