import { htmlText } from './html.ts';

/** Builds a page from a title (text), a style, and a body (HTML). It loads nothing and runs no scripts, whatever the body contains. */
export function htmlPage({ title, style, body }: { title: string; style: string; body: string }): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${htmlText(title)}</title><style>${style}</style></head><body>
${body}
</body></html>
`;
}

/** Builds a drawing for a page, with a description for people who can't see it. */
export function svgDrawing(
  spoken: readonly string[],
  { width, height }: { width: number; height: number },
  parts: readonly string[],
): string {
  return `<svg role="img" aria-label="${htmlText(spoken.join('; '))}" viewBox="0 0 ${width} ${height}">${parts.join('')}</svg>`;
}
