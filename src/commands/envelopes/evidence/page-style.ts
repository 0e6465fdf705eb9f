/** Styles for printing: black on white, no meaning by color alone, no page breaks inside an entry. */
export const PAGE_STYLE = `
@page{size:A4;margin:18mm 16mm}
:root{font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;color:#16191d;background:#fff}
*{box-sizing:border-box}
body{max-width:54rem;margin:2.5rem auto;padding:0 1.25rem}
header{border-bottom:2px solid #16191d;padding-bottom:.8rem}
.kind{margin:0;font-size:.8rem;letter-spacing:.06em;text-transform:uppercase;color:#50575f}
h1{font-size:1.6rem;line-height:1.2;margin:.2rem 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:1.8rem 0 .5rem;break-after:avoid}
h3{font-size:1rem;margin:0 0 .3rem;break-after:avoid}
p{margin:.3rem 0}
.id{margin:0;font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.85rem;overflow-wrap:anywhere}
.status{border:1px solid currentColor;border-radius:.25rem;padding:.05rem .4rem;margin-left:.4rem;font-weight:600}
.verdict{border:1px solid #8a929b;border-left-width:.45rem;padding:.5rem .9rem;margin:1.1rem 0;break-inside:avoid;overflow-wrap:anywhere}
.good{border-color:#1a7f4b}.open{border-color:#a67c00}.bad{border-color:#b3261e}.verdict.bad{font-weight:600}
dl{display:grid;grid-template-columns:minmax(7rem,11rem) 1fr;gap:.15rem 1rem;margin:0}
dt{color:#50575f;overflow-wrap:anywhere}dd{margin:0;overflow-wrap:anywhere}
dl.tight{grid-template-columns:1fr;gap:0}dl.tight dt{font-size:.75rem}
article{border:1px solid #c9ced4;border-radius:.3rem;padding:.7rem .9rem;margin:.6rem 0;break-inside:avoid}
table{border-collapse:collapse;width:100%;font-size:.92em}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem .35rem 0;border-bottom:1px solid #c9ced4;overflow-wrap:anywhere}
th{font-size:.8rem;color:#50575f;white-space:nowrap}thead{display:table-header-group}tr{break-inside:avoid}
td{min-width:7rem}td:first-child{white-space:nowrap}td:nth-child(2){min-width:9.5rem}
code{font:.8rem/1.35 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
ol{padding-left:1.2rem}li{margin:.3rem 0}
@media print{:root{font-size:10.5pt}body{max-width:none;margin:0;padding:0}}
@media(max-width:40rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}td,td:nth-child(2){min-width:0}td:first-child{white-space:normal}}
`;
