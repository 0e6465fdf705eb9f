import { encode } from './canonical.ts';
import { compareKeys, type StoredObjectFacts } from './object-store.ts';
import { S3Error } from './s3-error.ts';
import type { Xml } from './xml.ts';

const MAX_KEYS = 1_000;

/** A page of a listing: objects, common prefixes, and where the next page starts. */
interface Page {
  contents: StoredObjectFacts[];
  prefixes: string[];
  /** The last key of this page if there are more pages. */
  next: string | undefined;
}

/** Returns a page of a bucket's objects, given in order, for ListObjectsV2, or for ListObjects, which some programs still use. */
export function listResult(
  bucket: string,
  objects: Iterable<StoredObjectFacts>,
  query: ReadonlyMap<string, string>,
): Xml {
  const isFirst = query.get('list-type') !== '2';
  const shown = (text: string) =>
    query.get('encoding-type') === 'url' ? text.split('/').map(encode).join('/') : text;
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const [token, startAfter] = [query.get('continuation-token'), query.get('start-after')];
  const start = (isFirst ? query.get('marker') : startAfter) ?? '';
  const after = token === undefined ? start : Buffer.from(token, 'base64url').toString('utf8');
  const limit = maxKeys(query.get('max-keys'));
  const { contents, prefixes, next } = pageOf(objects, { prefix, delimiter, after, limit });
  return {
    Name: bucket,
    Prefix: shown(prefix),
    Delimiter: delimiter === '' ? undefined : shown(delimiter),
    MaxKeys: limit,
    EncodingType: query.get('encoding-type'),
    IsTruncated: next !== undefined,
    ...(isFirst
      ? { Marker: shown(start), NextMarker: next === undefined ? undefined : shown(next) }
      : {
          KeyCount: contents.length + prefixes.length,
          StartAfter: startAfter === undefined ? undefined : shown(startAfter),
          ContinuationToken: token,
          NextContinuationToken: next === undefined ? undefined : Buffer.from(next).toString('base64url'),
        }),
    Contents: contents.map((object) => ({
      Key: shown(object.key),
      LastModified: object.modifiedAt,
      ETag: `"${object.etag}"`,
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
    CommonPrefixes: prefixes.map((one) => ({ Prefix: shown(one) })),
  };
}

function pageOf(
  objects: Iterable<StoredObjectFacts>,
  wanted: { prefix: string; delimiter: string; after: string; limit: number },
): Page {
  const { prefix, delimiter, after, limit } = wanted;
  const page: Page = { contents: [], prefixes: [], next: undefined };
  if (limit === 0) return page;
  const matching = [...objects].filter(({ key }) => key.startsWith(prefix) && compareKeys(key, after) > 0);
  let last = '';
  for (const object of matching) {
    const common = commonPrefix(object.key, prefix, delimiter);
    // A common prefix is listed once, even if the previous page ended inside it.
    if (common === undefined || (common !== page.prefixes.at(-1) && !after.startsWith(common))) {
      if (page.contents.length + page.prefixes.length === limit) return { ...page, next: last };
      if (common === undefined) page.contents.push(object);
      else page.prefixes.push(common);
    }
    last = object.key;
  }
  return page;
}

/** Returns the common prefix up to the next delimiter; undefined for a key without a delimiter. */
function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
}

function maxKeys(text = String(MAX_KEYS)): number {
  if (!/^\d{1,9}$/.test(text)) throw new S3Error('InvalidArgument', 'max-keys must be a whole number.');
  return Math.min(MAX_KEYS, Number(text));
}
