import { randomBytes } from 'node:crypto'
import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction, write } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import type { MediaType, Part } from '../../stores/media/asset.ts'
import type { UploadRow } from '../../stores/media/upload.ts'
import { headBytes, kindOf, noMedium, tooLarge, typeOf } from '../file/type.ts'
import { discardObjects, keepObject, requireRoom } from '../keep.ts'
import { prepareMedia } from '../prepare.ts'

/** Maximum number of parts of an upload. */
const mostParts = 4_000
/** Time in ms after which an idle upload expires. */
export const uploadRestsMs = 24 * 3_600_000

/** Thrown to end an upload that is no medium or is too large: the error is answered and the upload is deleted. */
export class Ended extends Error {
  readonly status: 400 | 413
  constructor(status: 400 | 413, sentence: string) {
    super(sentence)
    this.name = 'Ended'
    this.status = status
  }
}

/** Thrown when another request has written to the same upload in the meantime. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** Thrown when no bytes arrive for too long; earlier bytes stay stored. */
export class Stalled extends Error {
  override readonly name = 'Stalled'
}

/** An arriving request body, with the way it ended. */
export interface Coming {
  readonly body: ReadableStream<Uint8Array> | null
  /**
   * Checks the body against the sender's checksum at its end; parts count only after this check. @default each part
   * counts at once
   */
  readonly proven?: { update(piece: Uint8Array): void; holds(): boolean } | undefined
}

/** Thrown for a body that does not match its checksum. */
export class Altered extends Error {
  override readonly name = 'Altered'
}

/**
 * Stores the bytes of an upload and records each part, so that an interrupted upload can resume.
 * @returns the upload after this body
 * @throws Ended, Overtaken, Altered, Stalled
 */
export async function receive(context: Context, upload: UploadRow, { body, proven }: Coming): Promise<UploadRow> {
  let now = upload
  const unnoted: Part[] = []
  const reader = body?.getReader()
  let held: Uint8Array[] = []
  let heldBytes = 0
  let unnotedBytes = 0
  let failure: unknown
  /** Leading bytes of the upload that are already stored. */
  let begun = Buffer.from(upload.head, 'base64')

  const judge = async () => {
    if (now.mimeType !== null) return
    const head = Buffer.concat([begun, ...held]).subarray(0, headBytes)
    if (head.length < Math.min(headBytes, now.bytes)) {
      now = { ...now, head: head.toString('base64') }
      return
    }
    const mimeType = typeOf(head)
    const wrong = mimeType ? tooLarge(mimeType, now.bytes) : noMedium
    if (wrong) {
      await endUpload(context, { ...now, parts: [...now.parts, ...unnoted] })
      throw new Ended(mimeType ? 413 : 400, wrong)
    }
    now = { ...now, mimeType, head: '' }
  }
  const note = async () => {
    if (unnoted.length === 0) return
    const parts = unnoted.splice(0)
    unnotedBytes = 0
    now = await noted(context, now, parts).catch(error => {
      // If it is unknown whether the parts were recorded, they expire by themselves.
      if (error instanceof Overtaken) unnoted.push(...parts)
      throw error
    })
  }
  const keep = async () => {
    if (heldBytes === 0) return
    await judge()
    if (now.parts.length + unnoted.length >= mostParts)
      throw new DomainError('BAD_USER_INPUT', `An upload comes in ${mostParts} parts at most: send more at once.`)
    const key = `uploads/${now.id}/${randomBytes(9).toString('hex')}`
    const bytes = heldBytes
    await keepObject(context, now.brandId, key, Buffer.concat(held), { contentType: 'application/octet-stream', bytes })
    held = []
    heldBytes = 0
    begun = Buffer.from(now.head, 'base64')
    unnotedBytes += bytes
    unnoted.push({ key, bytes })
    if (!proven) await note()
  }
  try {
    for (;;) {
      // After a disconnect the body fails; the bytes received so far are stored.
      const next = await within(context.receiving.idleMs, reader?.read()).catch(error => {
        failure = error
        return { done: true as const, value: undefined }
      })
      if (!next || next.done) break
      const room = now.bytes - now.received - unnotedBytes - heldBytes
      if (next.value.byteLength > room)
        throw new DomainError('BAD_USER_INPUT', `The upload has ${now.bytes} bytes, and more came: begin it again with its length.`)
      proven?.update(next.value)
      held.push(next.value)
      heldBytes += next.value.byteLength
      if (now.mimeType === null) await judge()
      if (heldBytes >= context.receiving.partBytes()) await keep()
    }
    if (failure && proven) throw failure
    await keep()
    if (proven && !proven.holds()) throw new Altered()
    await note()
  } catch (error) {
    await reader?.cancel().catch(() => {})
    // Bytes that do not count must not fill the storage.
    await discardObjects(
      context,
      now.brandId,
      unnoted.map(({ key }) => key),
    )
    throw error
  }
  if (failure) {
    await reader?.cancel().catch(() => {})
    throw failure
  }
  return now
}

/** @throws Stalled on a timeout */
async function within<Result>(ms: number, waited: Promise<Result> | undefined): Promise<Result | undefined> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Stalled()), ms)
  try {
    return await Promise.race([waited, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function noted(context: Context, upload: UploadRow, parts: readonly Part[]): Promise<UploadRow> {
  const { mediaUploads, mediaObjects } = context
  const row = await inTransaction(context, async ({ now, transaction }) => {
    const expiresAt = new Date(now.getTime() + uploadRestsMs)
    const taken = await mediaUploads.take(upload, parts, { head: upload.head, mimeType: upload.mimeType, expiresAt }, now, transaction)
    // The parts are removed with the upload if nobody continues it.
    if (taken)
      await mediaObjects.doom(
        upload.brandId,
        taken.parts.map(({ key }) => key),
        new Date(expiresAt.getTime() + 3_600_000),
        transaction,
      )
    return taken
  })
  if (!row) throw new Overtaken()
  return row
}

/** Cancels an incomplete upload and removes its parts. */
export const endUpload = (context: Context, upload: UploadRow): Promise<void> =>
  inTransaction(context, async ({ now, transaction }) => {
    const row = await context.mediaUploads.lock(upload.id, transaction)
    if (row && row.assetId === null) await context.mediaUploads.remove(row, transaction)
    const keys = upload.parts.map(({ key }) => key)
    if (!row?.assetId && keys.length > 0) await context.mediaObjects.doom(upload.brandId, keys, now, transaction)
  })

/** Creates the asset of a complete upload once; a job then inspects it and marks it as ready. */
export async function completed(context: Context, upload: UploadRow): Promise<string> {
  const { brands, mediaUploads, mediaAssets, mediaObjects, clock, jobs } = context
  const id = newId(clock.now())
  const { organizationId } = await brands.require(upload.brandId)
  await write(context, {
    async run(unit) {
      const { now, transaction } = unit
      const row = await mediaUploads.lock(upload.id, transaction)
      if (!row || row.assetId !== null || row.received !== row.bytes) return null
      await requireRoom(context, row.brandId, unit)
      const mimeType = row.mimeType as MediaType
      const { brandId, filename, altText, folderId, authorId, bytes, parts, createdBy } = row
      const asset = await mediaAssets.insert(
        {
          ...{ brandId, id, filename, altText, folderId, authorId, bytes, parts, createdBy, mimeType },
          kind: kindOf(mimeType),
          source: 'UPLOAD',
          status: 'PROCESSING',
          createdAt: now,
          updatedAt: now,
        },
        transaction,
      )
      await mediaUploads.update(row, { assetId: id, parts: [], updatedAt: now }, transaction)
      await mediaObjects.spare(
        parts.map(({ key }) => key),
        transaction,
      )
      await prepareMedia(jobs, { ...asset, organizationId }, now, transaction)
      crash('in-upload-end')
      return asset
    },
    audit: asset => ({ tenantId: asset!.brandId, action: 'media.created', subjectId: asset!.id, details: { kind: asset!.kind, source: asset!.source } }),
  })
  crash('after-upload-end')
  const whole = await inTransaction(context, ({ transaction }) => mediaUploads.lock(upload.id, transaction))
  if (whole?.assetId) return whole.assetId
  throw new Overtaken()
}
