import { compareKeys } from './key-index.ts';
import { commonPrefix, shownBy } from './list.ts';
import type { OpenUpload } from './uploads.ts';
import type { Xml } from './xml.ts';

type Query = ReadonlyMap<string, string>;

/** A page of the uploads that are open, by key and then by when they began. */
export function uploadsResult(bucket: string, open: readonly OpenUpload[], query: Query, limit: number): Xml {
  const shown = shownBy(query);
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const { uploads, prefixes, last } = pageOf(following(open, query), { prefix, delimiter, limit });
  return {
    Bucket: bucket,
    KeyMarker: shown(query.get('key-marker') ?? ''),
    UploadIdMarker: query.get('upload-id-marker') ?? '',
    NextKeyMarker: last && shown(last.key),
    NextUploadIdMarker: last?.id,
    Prefix: shown(prefix),
    Delimiter: delimiter === '' ? undefined : shown(delimiter),
    EncodingType: query.get('encoding-type'),
    MaxUploads: limit,
    IsTruncated: last !== undefined,
    Upload: uploads.map(({ key, id, startedAt, algorithm, checksumType }) => ({
      Key: shown(key),
      UploadId: id,
      StorageClass: 'STANDARD',
      Initiated: startedAt,
      ChecksumAlgorithm: algorithm,
      ChecksumType: checksumType,
    })),
    CommonPrefixes: prefixes.map((one) => ({ Prefix: shown(one) })),
  };
}

/** Those after the markers; the upload marker counts only together with its key. */
function following(open: readonly OpenUpload[], query: Query): OpenUpload[] {
  const sorted = open.toSorted(
    (a, b) => compareKeys(a.key, b.key) || a.startedAt.localeCompare(b.startedAt) || a.id.localeCompare(b.id),
  );
  const [key, id] = [query.get('key-marker'), query.get('upload-id-marker')];
  if (key === undefined) return sorted;
  const at = sorted.findIndex((one) => one.key === key && one.id === id);
  return at < 0 ? sorted.filter((one) => compareKeys(one.key, key) > 0) : sorted.slice(at + 1);
}

/** `last` is the last upload of this page when there are more. */
function pageOf(
  uploads: readonly OpenUpload[],
  wanted: { prefix: string; delimiter: string; limit: number },
): { uploads: OpenUpload[]; prefixes: string[]; last: OpenUpload | undefined } {
  const { prefix, delimiter, limit } = wanted;
  const page: OpenUpload[] = [];
  const prefixes: string[] = [];
  let last: OpenUpload | undefined;
  for (const upload of uploads.filter(({ key }) => key.startsWith(prefix))) {
    const common = commonPrefix(upload.key, prefix, delimiter);
    if (common === undefined || common !== prefixes.at(-1)) {
      if (page.length + prefixes.length === limit) return { uploads: page, prefixes, last };
      if (common === undefined) page.push(upload);
      else prefixes.push(common);
    }
    last = upload;
  }
  return { uploads: page, prefixes, last: undefined };
}
