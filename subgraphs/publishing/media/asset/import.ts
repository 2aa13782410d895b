import { createHash, randomBytes } from 'node:crypto'
import { Refusal } from '../../../../platform/errors.ts'
import { newId, readId, requireName } from '../../../../platform/ids.ts'
import { isRefusedAddress, OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { create, inTransaction } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { ImportMediaInput } from '../../resolvers.generated.ts'
import type { MediaAssetRow, MediaType } from '../../stores/media/asset.ts'
import { kindOf, noMedium, typeOf } from '../file/type.ts'
import { requireFolder } from '../folder/rules.ts'
import { createPicture, keepObject, requireRoom } from '../keep.ts'
import { prepareMedia } from '../prepare.ts'

/** How much is fetched, in bytes, and for how long, in ms. */
const most = { bytes: 100 * 1024 * 1024, ms: 25_000 } as const
/** How many bytes are held until they are kept. */
const partBytes = 8 * 1024 * 1024

/** What an address is called by: its last part. */
function nameOf(url: URL): string {
  const last = url.pathname.split('/').findLast(Boolean) ?? ''
  try {
    return requireName(decodeURIComponent(last), 'filename', 255)
  } catch {
    return 'import'
  }
}

/** Fetches a file from a public address into a brand's library. @throws BAD_USER_INPUT, UPSTREAM_FAILED, NOT_FOUND, CONFLICT */
export async function importMedia(context: Context, input: ImportMediaInput): Promise<MediaAssetRow> {
  const { brands, viewer, clock } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const folderId = readId(input.folderId, 'folderId')
  await inTransaction(context, async unit => {
    await requireRoom(context, brand.id, unit)
    await requireFolder(context, brand.id, folderId, unit)
  })
  const url = new URL(String(input.url))
  const id = newId(clock.now())
  const fetched = await fetchInto(context, url, brand.id)
  const given = {
    brandId: brand.id,
    filename: nameOf(url),
    altText: null,
    folderId,
    source: 'IMPORT',
    authorId: viewer.userId,
    createdBy: actorOf(viewer),
  } as const
  if (kindOf(fetched.type) !== 'VIDEO') {
    const pieces: Uint8Array[] = []
    for (const { key } of fetched.parts) pieces.push(new Uint8Array(await new Response(await context.storage.get(key)).arrayBuffer()))
    const { row } = await createPicture(context, {
      ...given,
      organizationId: brand.organizationId,
      once: input,
      id,
      type: fetched.type,
      bytes: Buffer.concat(pieces),
    })
    return row
  }
  const { row } = await create(context, {
    of: context.mediaAssets,
    once: input,
    tenantId: brand.organizationId,
    id,
    async run(unit) {
      await requireRoom(context, brand.id, unit)
      await context.mediaObjects.spare(
        fetched.parts.map(({ key }) => key),
        unit.transaction,
      )
      const bytes = fetched.parts.reduce((sum, part) => sum + part.bytes, 0)
      return {
        id,
        ...given,
        kind: 'VIDEO' as const,
        mimeType: fetched.type,
        bytes,
        parts: fetched.parts,
        status: 'PROCESSING' as const,
        createdAt: unit.now,
        updatedAt: unit.now,
      }
    },
    wake: (asset, { now, transaction }) => prepareMedia(context.jobs, asset, now, transaction),
    audit: asset => ({ tenantId: asset.brandId, action: 'media.created', subjectId: asset.id, details: { kind: asset.kind, source: asset.source } }),
  })
  return row
}

/** Fetches a file and keeps it in parts. @throws BAD_USER_INPUT, UPSTREAM_FAILED */
async function fetchInto(context: Context, url: URL, brandId: string) {
  const refuse = (sentence: string) => new Refusal('BAD_USER_INPUT', sentence, { field: 'url' })
  try {
    const answer = await context.outbound.stream(url, { totalMs: most.ms, mostBytes: most.bytes, signal: context.leaving })
    if (answer.status !== 200) {
      answer.cancel()
      throw new Refusal('UPSTREAM_FAILED', `${url.origin} answered ${answer.status} instead of a file.`)
    }
    const name = createHash('sha256').update(url.href).update(randomBytes(16)).digest('hex').slice(0, 32)
    const parts: { readonly key: string; readonly bytes: number }[] = []
    let type = null as MediaType | null
    let held: Uint8Array[] = []
    let bytes = 0
    const keep = async () => {
      if (bytes === 0) return
      const whole = Buffer.concat(held)
      if (parts.length === 0) type = typeOf(whole)
      if (type === null) throw refuse(noMedium)
      const key = `imports/${name}/${parts.length}`
      await keepObject(context, brandId, key, whole, { contentType: 'application/octet-stream', bytes })
      parts.push({ key, bytes })
      held = []
      bytes = 0
    }
    for await (const piece of answer.body) {
      held.push(piece)
      bytes += piece.byteLength
      // The first part is judged as soon as it can be.
      if (bytes >= partBytes || (parts.length === 0 && bytes >= 64 * 1024)) await keep()
    }
    await keep()
    if (type === null) throw refuse(noMedium)
    return { type, parts }
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    if (isRefusedAddress(error)) throw refuse('The address is not public: files are fetched from public addresses alone.')
    if (error.kind === 'large') throw refuse(`The file has more than ${most.bytes} bytes: upload it in parts.`)
    throw new Refusal('UPSTREAM_FAILED', `Nothing came from ${url.origin}: ${error.message}`)
  }
}
