import type { Pdf } from './pdf.ts';
import { MARGIN, type Sheet, STYLES, TEXT_WIDTH } from './sheet.ts';

const TOP = 62;
const BOTTOM = 774;
const LABEL_WIDTH = 116;
const FACT = { ...STYLES.body, size: 9, leading: 12.5 };

/** Content that runs over as many pages as it needs. They are appended to the document. */
export class Flow {
  readonly #pdf: Pdf;
  #sheet: Sheet;
  /** The position of the next item, in points from the top. */
  #top = TOP;

  constructor(pdf: Pdf) {
    this.#pdf = pdf;
    this.#sheet = pdf.addSheet();
  }

  title(text: string, subtitle: string): void {
    this.#top = this.#sheet.title(text, subtitle, this.#column());
  }

  /** Draws a section's heading, kept together with the beginning of its content. */
  heading(text: string): void {
    this.#ensureSpace(94);
    this.#top = this.#sheet.paragraph(text, STYLES.heading, this.#column(12)) + 4;
  }

  /** Draws a label and a value, which may take several lines and pages. */
  fact(label: string, ...value: readonly string[]): void {
    const wrap = (text: string) => this.#sheet.fonts.wrap(text, FACT, TEXT_WIDTH - LABEL_WIDTH);
    const lines = value.flatMap(wrap);
    this.#ensureSpace(Math.min(lines.length, 3) * FACT.leading);
    const y = this.#top + FACT.leading - 3;
    this.#sheet.fittedLine(label, STYLES.small, { x: MARGIN, y, width: LABEL_WIDTH - 12 });
    for (const line of lines) {
      this.#ensureSpace(FACT.leading);
      this.#top = this.#sheet.lines([line], FACT, { x: MARGIN + LABEL_WIDTH, top: this.#top });
    }
    this.#top += 2.5;
  }

  /** Starts a new page if less than `height` points are left. */
  #ensureSpace(height: number): void {
    if (this.#top + height <= BOTTOM) return;
    this.#sheet = this.#pdf.addSheet();
    this.#top = TOP;
  }

  #column(space = 0) {
    return { x: MARGIN, top: this.#top + space, width: TEXT_WIDTH };
  }
}
