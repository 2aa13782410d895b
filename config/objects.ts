import { resolve } from 'node:path'
import type { S3Settings } from '../platform/storage/s3.ts'
import { address, flag, oneOf, text } from './readers.ts'
import { type Start, setting, type Values } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']
/** A router before any subgraphs reads these for a supergraph in a bucket. */
const withRouters: readonly Start[] = [...subgraphs, 'router']

/** Where pictures and films are kept. */
export const objects = {
  kind: setting('STORAGE', oneOf('file', 's3'), {
    fallback: 'file',
    by: subgraphs,
    does: 'Where media files are stored: `file` (a folder) or `s3` (a bucket). See [File storage](storage.md).',
  }),
  dir: setting('STORAGE_DIR', text, { fallback: null, without: '`$DATA_DIR/storage`', by: subgraphs, does: 'Folder for `STORAGE=file`.' }),
  endpoint: setting('S3_ENDPOINT', address, {
    fallback: null,
    without: '`https://s3.$S3_REGION.amazonaws.com`',
    by: withRouters,
    does: 'Address of the S3 server; may be private.',
  }),
  region: setting('S3_REGION', text, { fallback: 'us-east-1', by: withRouters, does: 'Region for signing requests.' }),
  bucket: setting('S3_BUCKET', text, { fallback: null, by: subgraphs, does: 'Existing bucket. Required for `s3`.' }),
  accessKeyId: setting('S3_ACCESS_KEY_ID', text, {
    fallback: null,
    by: withRouters,
    does: 'Key that may put, get and delete objects. Required for `s3`.',
  }),
  secretAccessKey: setting('S3_SECRET_ACCESS_KEY', text, { fallback: null, by: withRouters, does: 'Its secret. Required for `s3`.' }),
  pathStyle: setting('S3_PATH_STYLE', flag, {
    fallback: false,
    by: withRouters,
    does: '`1`: bucket name in the path, as most self-hosted servers need.',
  }),
}

/** Where objects are kept: a folder, or a bucket. */
export type Objects = { readonly folder: string } | { readonly bucket: S3Settings }

/**
 * What was read, put together.
 * @param dataDir below which the folder is, where no other is named
 * @param mistakes takes what is said of settings that do not belong together, a line each
 */
export function objectsOf(
  { kind, dir, endpoint, region, bucket, accessKeyId, secretAccessKey, pathStyle }: Values<typeof objects>,
  dataDir: string,
  mistakes: string[],
): Objects {
  if ((accessKeyId === null) !== (secretAccessKey === null))
    mistakes.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: one is set without the other; set both or none')
  if (kind === 'file') return { folder: resolve(dir ?? `${dataDir}/storage`) }
  if (bucket === null) mistakes.push('S3_BUCKET: missing: STORAGE=s3 needs it')
  if (accessKeyId === null && secretAccessKey === null) mistakes.push('S3_ACCESS_KEY_ID: missing: STORAGE=s3 needs it, with S3_SECRET_ACCESS_KEY')
  return { bucket: { ...addressOfS3({ endpoint, region, pathStyle, accessKeyId, secretAccessKey }), bucket: bucket ?? '' } }
}

/** Address and credentials of the S3 server, whichever bucket is meant; texts without a setting are empty. */
export const addressOfS3 = ({
  endpoint,
  region,
  pathStyle,
  accessKeyId,
  secretAccessKey,
}: Pick<Values<typeof objects>, 'endpoint' | 'region' | 'pathStyle' | 'accessKeyId' | 'secretAccessKey'>): Omit<S3Settings, 'bucket'> => ({
  endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
  region,
  pathStyle,
  accessKeyId: accessKeyId ?? '',
  secretAccessKey: secretAccessKey ?? '',
})
