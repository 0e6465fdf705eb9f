import { describe, expect, it } from 'vitest';
import { html, verbatim } from '../../src/pages/html.ts';

describe('the template of pages', () => {
  it('escapes text in content and attributes, also in lists', () => {
    const hostile = `<b title="x">&'`;
    const escaped = '&lt;b title=&quot;x&quot;&gt;&amp;&#39;';
    expect(html`<p title="${hostile}">${[hostile, [hostile]]}</p>`.text).toBe(
      `<p title="${escaped}">${escaped}${escaped}</p>`,
    );
  });

  it('shows characters that hide or reorder text, and keeps line breaks', () => {
    expect(html`${'invoice\u202efdp.exe\n\u200bend'}`.text).toBe(
      'invoice&lt;202E&gt;fdp.exe\n&lt;200B&gt;end',
    );
  });

  it('keeps the text of form fields, so that a browser posts it unchanged', () => {
    expect(html`<input value="${verbatim('\u202e"\u200b')}">`.text).toBe(
      '<input value="\u202e&quot;\u200b">',
    );
  });

  it('inserts markup unchanged and nothing for absent values', () => {
    expect(html`<ul>${[1, 0].map((n) => html`<li>${n}</li>`)}${null}${undefined}${false}</ul>`.text).toBe(
      '<ul><li>1</li><li>0</li></ul>',
    );
  });
});
