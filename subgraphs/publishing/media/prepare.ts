import { createHash } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { crash } from '../../../platform/crash.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { JobQueue, Sweep } from '../../../platform/jobs/queue.ts'
import { following, passing } from '../../../platform/storage/pieces.ts'
import { NotStored, type Storage } from '../../../platform/storage/storage.ts'
import { inTransaction, step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { MediaAssetRow, Part } from '../stores/media/asset.ts'
import { NoFilm, readFilm } from './file/film.ts'
import { NoPicture } from './file/picture.ts'
import { bytesOf, keepObject, keepSeen, keyOf, lookAt, spare, turnsOf } from './keep.ts'

const name = 'prepare-media'

/** Schedules the preparation of an asset that was uploaded in parts. */
export const prepareMedia = (
  jobs: Jobs,
  { brandId, id, organizationId }: Pick<MediaAssetRow, 'brandId' | 'id'> & { readonly organizationId: string },
  at: Date,
  transaction: Transaction,
): Promise<void> => jobs.enqueue(name, { brandId, assetId: id, organizationId }, { transaction, startAfter: at, key: id })

/**
 * Queue for four concurrent jobs, at most two of one organization: each reads a file of up to 1 GiB. Jobs created by an
 * earlier version name no organization.
 */
export const prepareQueue = (job: () => Job): JobQueue => ({
  name,
  concurrency: 4,
  groupOf: ({ organizationId, brandId }) => organizationId ?? brandId ?? null,
  perGroup: 2,
  handle: async ({ assetId }) => prepare(job(), assetId!),
})

/** Age in ms after which the sweep picks up an unfinished asset. */
const graceMs = 120_000
/** Time in ms after which an unfinished asset fails. */
const timeoutMs = 3_600_000

/** Number of objects removed per batch, before their records are deleted. */
const atOnce = 200
const roundMs = 20_000

/** Finds assets whose wake-up was lost, and removes objects whose time has come. */
export const mediaSweeps = (job: () => Job): readonly Sweep[] => [
  {
    name: 'media under way',
    everyMs: 30_000,
    asksOthers: true,
    async run() {
      const { clock, mediaAssets, log } = job()
      for (const asset of await mediaAssets.waiting(new Date(clock.now().getTime() - graceMs), 5))
        await prepare(job(), asset.id).catch(error => log.error({ err: error, assetId: asset.id }, 'media file could not be prepared; the next round retries'))
    },
  },
  {
    name: 'objects that are to go',
    everyMs: 30_000,
    asksOthers: true,
    async run() {
      // If more files are due than one round removes, the next round follows at once.
      const until = performance.now() + roundMs
      while ((await removeDue(job())) && performance.now() < until);
    },
  },
]

/** Removes objects whose time has come. @returns whether more may be to go */
async function removeDue(job: Job): Promise<boolean> {
  const { clock, mediaObjects, storage, log } = job
  const now = clock.now()
  const keys = await mediaObjects.due(now, atOnce)
  if (keys.length === 0) return false
  const gone: string[] = []
  try {
    for (const key of keys) {
      await storage.remove(key)
      gone.push(key)
    }
  } catch (error) {
    // Unavailable storage must not make the sweep count as stuck: deleted files may stay for a while.
    log.warn({ err: error, left: keys.length - gone.length }, 'deleted files could not be removed; the next round retries')
  }
  if (gone.length > 0) await inTransaction(job, ({ transaction }) => mediaObjects.forget(gone, now, transaction))
  return gone.length === atOnce
}

/** Joins the parts of an asset, inspects it and marks it as ready, or as failed when it is no medium. Idempotent. */
export async function prepare(job: Job, assetId: string): Promise<void> {
  const asset = await job.mediaAssets.byId.load(assetId)
  if (asset?.status !== 'PROCESSING') return
  let ready: Partial<MediaAssetRow>
  try {
    ready = { status: 'READY', ...(asset.kind === 'VIDEO' ? await film(job, asset) : await picture(job, asset)) }
  } catch (error) {
    const isHopeless = error instanceof NoFilm || error instanceof NoPicture || error instanceof NotStored
    if (!isHopeless && job.clock.now().getTime() - asset.createdAt.getTime() < timeoutMs) throw error
    job.log.info({ assetId, why: (error as Error).message }, 'media file could not be prepared')
    ready = { status: 'FAILED', previewBroken: true }
  }
  crash('medium-looked-at')
  await step(job, {
    of: job.mediaAssets,
    hold: assetId,
    decide: row => (row.status === 'PROCESSING' ? { changes: { ...ready, parts: [] }, isNews: true, along: unit => followed(job, asset, ready, unit) } : null),
  })
}

/** Removes the parts; the joined file stays only if the asset is ready. */
async function followed(
  job: Job,
  asset: MediaAssetRow,
  ready: Partial<MediaAssetRow>,
  unit: { readonly now: Date; readonly transaction: Transaction },
): Promise<void> {
  const parts = asset.parts.map(({ key }) => key)
  const isReady = ready.status === 'READY'
  if (isReady) await spare(job, asset.id, unit)
  const gone = isReady ? parts : [...parts, ...bytesOf(asset.id)]
  if (gone.length > 0) await job.mediaObjects.doom(asset.brandId, gone, unit.now, unit.transaction)
}

async function picture(job: Job, asset: MediaAssetRow): Promise<Partial<MediaAssetRow>> {
  const brand = await job.brands.byId.load(asset.brandId)
  const pieces: Uint8Array[] = []
  for await (const piece of joined(job.storage, asset.parts)) pieces.push(piece)
  const seen = await lookAt(Buffer.concat(pieces), asset.mimeType, turnsOf(job, brand?.organizationId ?? asset.brandId, true))
  await keepSeen(job, asset, seen)
  return seen.looked
}

async function film(job: Job, asset: MediaAssetRow): Promise<Partial<MediaAssetRow>> {
  const key = keyOf(asset.id, 'original')
  const hash = createHash('sha256')
  const hashed = passing(joined(job.storage, asset.parts), piece => {
    hash.update(piece)
    return piece
  })
  await keepObject(job, asset.brandId, key, hashed, { contentType: asset.mimeType, bytes: asset.bytes })
  const said = await readFilm(asset.bytes, async (first, last) => new Uint8Array(await new Response(await job.storage.get(key, { first, last })).arrayBuffer()))
  // Films are not decoded, so they have no preview.
  return { ...said, sha256: hash.digest('hex'), previewBroken: true }
}

const joined = (storage: Storage, parts: readonly Part[]): AsyncIterable<Uint8Array> =>
  following(
    parts.map(
      ({ key }) =>
        () =>
          storage.get(key),
    ),
  )
