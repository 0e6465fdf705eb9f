/**
 * The style of pages with figures and charts. Blue and orange differ in lightness and are distinguishable with any kind of color blindness.
 * Each bar also has a label.
 */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--sent:#0072b2;--done:#e69f00;--line:#555;font:16px/1.5 system-ui,sans-serif}
@media (prefers-color-scheme:dark){:root{--sent:#56b4e9;--done:#f0b840;--line:#bbb}}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.6rem;margin-bottom:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
dl{margin:1rem 0}dl div{display:flex;flex-wrap:wrap;gap:0 1rem;padding:.3rem 0;border-bottom:1px solid #8884}dt{flex:0 0 11rem;font-weight:600}dd{margin:0;flex:1 1 16rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td,th{padding:.35rem .7rem .35rem 0;border-bottom:1px solid #8884;text-align:right;font-weight:400}
thead th{font-weight:600;vertical-align:bottom}th:first-child{text-align:left;overflow-wrap:anywhere;min-width:8rem}.wide{overflow-x:auto}.wide table{font-size:.85rem}
svg{display:block;width:100%;max-width:52rem}svg text{fill:currentColor;font:13px system-ui,sans-serif}.sent{fill:var(--sent)}.done{fill:var(--done)}
.mark{stroke:var(--line);stroke-width:1.5;stroke-dasharray:4 3}.key{display:inline-block;width:.8em;height:.8em;margin:0 .35em 0 1em}.key.sent{background:var(--sent);margin-left:0}.key.done{background:var(--done)}
@media print{:root{color-scheme:light;font-size:11px}body{max-width:none;margin:0}section{break-inside:avoid}.wide{overflow:visible;break-inside:auto}tr{break-inside:avoid}svg{max-width:36rem}.sent,.done,.key{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
