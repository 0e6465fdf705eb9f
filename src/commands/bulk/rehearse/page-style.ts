import { PAGE_STYLE } from '../../../output/page-style.ts';

/** The style of a report, with additions for a rehearsal. */
export const REHEARSAL_STYLE = `${PAGE_STYLE}
:root{--good:#1a7f4b;--bad:#b3261e;--dim:#5a6168;--card:#8881;--rule:#8884;background:#fff;color:#16191d}
@media (prefers-color-scheme:dark){:root{--good:#5fc98f;--bad:#ff8a80;--dim:#a6adb4;--card:#ffffff0d;background:#14171a;color:#e8eaed}}
*{box-sizing:border-box}body{max-width:54rem;padding:0 1.25rem 3rem;overflow-wrap:anywhere}p{margin:.4rem 0}
header{margin-bottom:1.5rem}h1{font-size:2rem;line-height:1.2;margin:.2rem 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:2.75rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--rule)}h3{font-size:1rem;margin:1.5rem 0 .4rem}
.kind{font-size:.8rem;font-weight:600;letter-spacing:.06em;text-transform:uppercase;color:var(--sent)}.dim{color:var(--dim)}
.verdict{border:1px solid var(--rule);border-left:.4rem solid var(--good);border-radius:.4rem;padding:.7rem 1rem;font-size:1.1rem}.verdict.bad{border-left-color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0 0;padding:0;list-style:none}
.tiles li{background:var(--card);border-radius:.5rem;padding:.8rem 1rem}.tiles strong{display:block;font-size:1.35rem;line-height:1.25}.tiles span{color:var(--dim);font-size:.9rem}
.email{border:1px solid var(--rule);border-radius:.5rem;margin:.75rem 0;padding:.9rem 1.1rem;break-inside:avoid}
.email h3{margin:0 0 .4rem;font-size:1.05rem}.email .text{white-space:pre-line;margin:0 0 .7rem}.email ul{margin:.4rem 0 0;padding-left:1.2rem}
.none{font-style:italic;color:var(--dim);font-weight:400}summary{cursor:pointer;color:var(--sent)}.more{margin:.75rem 0}
td,td:first-child,th,th:first-child{text-align:left;vertical-align:top}tbody td:last-child,thead th:last-child{padding-right:0}th{min-width:0}th:first-child{min-width:3.5rem}thead th{color:var(--dim);font-size:.9rem}
td,th{overflow-wrap:normal}td:nth-child(2){overflow-wrap:anywhere}.curve svg{max-width:42rem}.curve text{font-size:14px}.area{fill:var(--sent);opacity:.16}.line{fill:none;stroke:var(--sent);stroke-width:2.5;stroke-linejoin:round}
.grid{stroke:currentColor;opacity:.16}.dot{fill:var(--done);stroke:none}.axis{opacity:.75}
.caveats{list-style:none;margin:0;padding:0}.caveats li{padding:.7rem 0;border-bottom:1px solid var(--rule);break-inside:avoid}.caveats p{margin:0}.caveats p+p{color:var(--dim)}
.pages{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.5rem;margin:0}figure{margin:0;break-inside:avoid}figcaption{font-size:.9rem;margin-top:.5rem}
.sheet svg{border:1px solid var(--rule);border-radius:.25rem;background:#fff;box-shadow:0 1px 4px #0003}.sheet text{fill:#16191d}.sheet text{font-size:11px}.sheet .name{font-size:22px}.sheet .soft{fill:#5a6168}.sheet .mark-text{font-size:28px;fill:#b3261e;font-weight:700;letter-spacing:2px}
.sheet .mark-box{fill:none;stroke:#b3261e}.sheet .field{fill:#0072b214;stroke:#0072b2}.sheet .must{fill:#b3261e}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--rule);color:var(--dim);font-size:.9rem}code{font:.9em/1.4 ui-monospace,"DejaVu Sans Mono",monospace}
@media (max-width:34rem){body{margin:1rem auto}h1{font-size:1.6rem}.tiles{grid-template-columns:1fr 1fr}dl div{flex-direction:column}dt,dd{flex:none}td,th{padding-right:.6rem}}
@page{size:A4;margin:16mm 15mm}
@media print{:root{background:#fff;color:#16191d;--sent:#0072b2;--done:#e69f00;--good:#1a7f4b;--bad:#b3261e;--dim:#5a6168;--line:#555}body{padding:0}h1{font-size:20pt}h2{break-after:avoid;margin-top:1.75rem}
section{break-inside:auto}details::details-content{content-visibility:visible;display:block}summary{list-style:none;color:inherit}.tiles,.verdict,.curve{break-inside:avoid}
.area,.line,.dot,.verdict,.tiles li,.sheet *{print-color-adjust:exact;-webkit-print-color-adjust:exact}.pages{grid-template-columns:repeat(2,1fr)}.sheet svg{box-shadow:none}}
`;
