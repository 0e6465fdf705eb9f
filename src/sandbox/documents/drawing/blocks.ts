import type { Sheet } from '../pdf/sheet.ts';
import { type Block, PAGE, type Region } from '../templates/design.ts';
import type { Typesetter } from '../text/typesetter.ts';
import { baseline, COLORS, drawLine, drawParagraph, STYLES } from './pen.ts';

/** The indent of a clause's text from its number, in points. */
const INDENT = 28;

interface Column {
  x: number;
  width: number;
}

/** Draws a region's blocks. Throws if they don't fit, because there are fields below the region. */
export function drawRegion(sheet: Sheet, type: Typesetter, region: Region): void {
  const column = { x: region.x ?? PAGE.left, width: region.width ?? PAGE.width };
  let top = region.top;
  for (const [index, block] of region.blocks.entries()) {
    const before = region.blocks[index - 1];
    const endsList = isSubclause(before) && !isSubclause(block);
    top = drawBlock(sheet, type, block, column, endsList ? top + 4 : top);
  }
  if (top > region.bottom) {
    throw new Error(`The text of a region overruns it by ${(top - region.bottom).toFixed(1)} points.`);
  }
}

function drawBlock(sheet: Sheet, type: Typesetter, block: Block, { x, width }: Column, top: number): number {
  switch (block.kind) {
    case 'title': {
      const below = drawParagraph(sheet, type, block.text, STYLES.title, { x, top, width });
      const end = drawParagraph(sheet, type, block.subtitle, STYLES.small, { x, top: below + 1, width });
      sheet.line([x, end + 9], [x + width, end + 9], { color: COLORS.hairline, width: 0.75 });
      sheet.line([x, end + 9], [x + 42, end + 9], { color: COLORS.accent, width: 1.5 });
      return end + 22;
    }
    case 'heading': {
      // The number is aligned with those of the clauses.
      const [, number = '', text = ''] = /^(?:(\d+) {2})?(.*)$/su.exec(block.text) ?? [];
      const indent = number === '' ? 0 : INDENT;
      drawLine(sheet, type, number, STYLES.heading, { x, y: baseline(top + 10, STYLES.heading) });
      return (
        drawParagraph(sheet, type, text, STYLES.heading, {
          x: x + indent,
          top: top + 10,
          width: width - indent,
        }) + 4
      );
    }
    case 'paragraph':
      return drawParagraph(sheet, type, block.text, STYLES.body, { x, top, width }) + 6;
    case 'note':
      return drawParagraph(sheet, type, block.text, STYLES.small, { x, top, width }) + 6;
    case 'clause': {
      const indent = block.depth === 1 ? 2 * INDENT - 6 : INDENT;
      const numberAt = block.depth === 1 ? INDENT : 0;
      drawLine(sheet, type, block.number, STYLES.body, { x: x + numberAt, y: baseline(top, STYLES.body) });
      const place = { x: x + indent, top, width: width - indent };
      return drawParagraph(sheet, type, block.text, STYLES.body, place) + (block.depth === 1 ? 1 : 5);
    }
  }
}

function isSubclause(block: Block | undefined): boolean {
  return block?.kind === 'clause' && block.depth === 1;
}
