import { htmlText } from './escape.ts';

/** Builds a page from a title (text), a style, and a body (HTML). It loads nothing and runs no scripts, regardless of the body. */
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

/** Builds a section from a body in HTML. Returns an empty text without a body. */
export function htmlSection(title: string, body: string): string {
  return body === '' ? '' : `<section><h2>${title}</h2>${body}</section>`;
}

/** Builds a table from cells in HTML. Returns an empty text without rows. */
export function htmlTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}
