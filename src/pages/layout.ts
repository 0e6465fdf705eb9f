import { readAsset } from './assets.ts';
import { Html, html } from './html.ts';

interface PageParts {
  title: string;
  /** The classes of the body, for its style. */
  look: string;
  body: Html;
  /** The time to which the script relates others, in ISO 8601; by default the browser's. */
  now?: string | undefined;
}

/** Returns a page. `head` loads its styles and scripts. */
function page({ title, look, body, now }: PageParts, head: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}
</head>
<body class="${look}" data-now="${now}">
${body}
</body>
</html>
`.text;
}

/** Returns a page of a server, which loads the kit's files and its own styles and scripts from `folder`, such as `/assets/`. */
export function servedPage(content: PageParts, folder: string, own: readonly string[]): string {
  const styles = ['style.css', ...own.filter((name) => name.endsWith('.css'))];
  const scripts = ['page.js', ...own.filter((name) => name.endsWith('.js'))];
  return page(
    content,
    html`<link rel="icon" href="${folder}icon.svg" type="image/svg+xml">
${styles.map((name) => html`<link rel="stylesheet" href="${folder}${name}">\n`)}
${scripts.map((name) => html`<script type="module" src="${folder}${name}"></script>\n`)}`,
  );
}

/**
 * Returns a page in one file, for screens and printers, with its own style. It loads nothing and runs no scripts, regardless of its
 * body.
 */
export async function selfContainedPage(
  content: PageParts,
  own: 'report.css' | 'evidence.css',
): Promise<string> {
  const names = ['style.css', 'self-contained.css', own];
  const files = await Promise.all(names.map((name) => readAsset(name, names)));
  const style = files.map((file) => new TextDecoder().decode(file?.body)).join('');
  return page(
    { ...content, body: html`<main>${content.body}</main>` },
    html`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
${new Html(style)}</style>`,
  );
}
