import { UsageError } from '../../kernel/errors.ts';
import type { Package } from './package.ts';
import { parseXml } from './xml.ts';

export interface SheetRef {
  name: string;
  /** The path of its part in the package. */
  path: string;
  isHidden: boolean;
}

export interface Workbook {
  sheets: SheetRef[];
  /** True if dates count from 1904, as in files of early Mac versions. */
  is1904: boolean;
  strings: string | undefined;
  styles: string | undefined;
}

interface Relation {
  type: string;
  target: string;
}

/** Reads the sheets and settings of a workbook. @throws UsageError when the package is not an .xlsx file. */
export async function readWorkbook(file: Package, name: string): Promise<Workbook> {
  const [root] = [...(await relations(file, '')).values()].filter(({ type }) => type === 'officeDocument');
  const path = root?.target ?? 'xl/workbook.xml';
  if (!file.has(path) || path.endsWith('.bin')) throw notXlsx(file, name);
  const parts = await relations(file, path);
  const found: { name: string; id: string; isHidden: boolean }[] = [];
  let is1904 = false;
  await parseXml(file.part(path), {
    open: (tag, attribute) => {
      if (tag === 'workbookPr') is1904 = isXmlTrue(attribute('date1904'));
      if (tag === 'sheet')
        found.push({
          name: attribute('name') ?? '',
          id: attribute('id', 'relationships') ?? '',
          isHidden: attribute('state') !== undefined && attribute('state') !== 'visible',
        });
    },
  });
  const sheets = found.flatMap(({ name: sheet, id, isHidden }) => {
    const part = parts.get(id);
    return part?.type === 'worksheet' ? [{ name: sheet, path: part.target, isHidden }] : [];
  });
  if (sheets.length === 0) throw notXlsx(file, name);
  const pathOf = (partType: string) => [...parts.values()].find(({ type }) => type === partType)?.target;
  return { sheets, is1904, strings: pathOf('sharedStrings'), styles: pathOf('styles') };
}

export function isXmlTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true' || value === 'on';
}

/** Returns the relations of a part by ID: the last word of their type, and the path of their target in the package. */
async function relations(file: Package, part: string): Promise<Map<string, Relation>> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const found = new Map<string, Relation>();
  await parseXml(file.part(`${folder}_rels/${part.slice(folder.length)}.rels`), {
    open: (tag, attribute) => {
      if (tag !== 'Relationship' || attribute('TargetMode') === 'External') return;
      const type = attribute('Type') ?? '';
      const target = pathIn(folder, attribute('Target') ?? '');
      found.set(attribute('Id') ?? '', { type: type.slice(type.lastIndexOf('/') + 1), target });
    },
  });
  return found;
}

function pathIn(folder: string, target: string): string {
  const { pathname } = new URL(target, `file:///${folder}`);
  return decodeURIComponent(pathname).slice(1);
}

function notXlsx(file: Package, name: string): UsageError {
  const what = file.has('content.xml') ? 'is an OpenDocument file' : 'is not an .xlsx spreadsheet';
  return new UsageError(`${name} ${what}.`, { hint: 'Save it as .xlsx. Nothing was sent.' });
}
