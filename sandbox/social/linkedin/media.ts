import { createHash, randomBytes } from 'node:crypto'
import type { Call, Reply } from '../../network.ts'
import { json } from '../../network.ts'
import { spoiltMedia } from '../../oauth/media.ts'
import type { Account } from '../../oauth/world.ts'
import { createDigest, type Digest } from '../films/read.ts'
import { filmFault, filmRules } from '../films/rules.ts'
import { keysIn, objectIn } from './parameters.ts'
import { denied, invalid, problem } from './problems.ts'
import { type Asset, mayActAs, type World } from './world.ts'

/**
 * Size of each part of a film but the last, in bytes:
 * https://learn.microsoft.com/linkedin/marketing/community-management/shares/videos-api
 */
const partBytes = 4_194_304
const [leastFilm, mostFilm] = [75_000, 500_000_000]

/** Answers `POST /rest/{images,videos}?action=…`. */
export function act(world: World, call: Call, account: Account, kind: Asset['kind']): Reply {
  const action = call.query.get('action')
  const body = objectIn(call)
  if (action === 'initializeUpload') return initialize(world, account, kind, body?.initializeUploadRequest as Record<string, unknown> | undefined)
  if (action === 'finalizeUpload' && kind === 'videos') return finalize(world, account, body?.finalizeUploadRequest as Record<string, unknown> | undefined)
  return invalid('action', `Action is not found: ${action}`)
}

function initialize(world: World, account: Account, kind: Asset['kind'], request: Readonly<Record<string, unknown>> | undefined): Reply {
  const refused = spoiltMedia(world, account, problem)
  if (refused) return refused
  const { owner, fileSizeBytes } = request ?? {}
  if (typeof owner !== 'string') return invalid('/initializeUploadRequest/owner', 'field is required but not found')
  if (!mayActAs(world, account, owner)) return denied(`${kind}.ACTION.initializeUpload`)
  const isFilm = kind === 'videos'
  const total = typeof fileSizeBytes === 'number' && fileSizeBytes > 0 ? fileSizeBytes : null
  if (isFilm && total === null) return invalid('/initializeUploadRequest/fileSizeBytes', 'field is required but not found')
  if (total !== null && (total < leastFilm || total > mostFilm)) return invalid('/initializeUploadRequest/fileSizeBytes', 'A video has 75 KB to 500 MB')
  const id = `C${isFilm ? '5605' : '4E10'}AQ${randomBytes(12).toString('base64url')}`
  const urn = `urn:li:${isFilm ? 'video' : 'image'}:${id}`
  const uploadToken = isFilm ? randomBytes(12).toString('base64url') : ''
  world.assets.set(urn, { urn, owner, kind, total: isFilm ? total : null, uploadToken, parts: [], received: null, isFinal: false, readyAt: 0, isBroken: false })
  const uploadUrl = `${world.origin()}/${world.name}/dms-uploads/${encodeURIComponent(id)}/${isFilm ? 'uploadedVideo' : 'uploaded-image'}`
  const uploadUrlExpiresAt = world.clock.now().getTime() + 86_400_000
  if (!isFilm) return json(200, { value: { uploadUrlExpiresAt, uploadUrl, image: urn } }, 'granted')
  const uploadInstructions = Array.from({ length: Math.ceil(total! / partBytes) }, (_, at) => ({
    uploadUrl: `${uploadUrl}?part=${at}`,
    firstByte: at * partBytes,
    lastByte: Math.min((at + 1) * partBytes, total!) - 1,
  }))
  return json(200, { value: { uploadUrlsExpireAt: uploadUrlExpiresAt, video: urn, uploadInstructions, uploadToken } }, 'granted')
}

/** Digests of films whose parts are still arriving; a restart loses them and ends their uploads. */
export type Digests = Map<string, { readonly hash: Digest; bytes: number; mimeType: string }>

/** Answers `PUT` to an upload address. Parts of a film must arrive in order. */
export function upload(world: World, digests: Digests, call: Call, account: Account, id: string): Reply {
  const refused = spoiltMedia(world, account, problem)
  if (refused) return refused
  const asset = world.assets.get(`urn:li:image:${id}`) ?? world.assets.get(`urn:li:video:${id}`)
  if (!asset || asset.isFinal || !mayActAs(world, account, asset.owner)) return problem(404)
  const mimeType = typeIn(call.body)
  if (asset.kind === 'images') {
    if (!/^image\/(?:jpeg|png|gif)$/.test(mimeType))
      return invalid('', 'The image is of no type that is supported: JPG, GIF, PNG', 'MEDIA_ASSET_PROCESSING_FAILED')
    const received = { mimeType, bytes: call.body.length, sha256: createHash('sha256').update(call.body).digest('hex') }
    world.assets.set(asset.urn, { ...asset, ...workedUp(world, account), received, isFinal: true })
    return { status: 201, headers: { 'content-length': '0' }, body: '', outcome: 'granted' }
  }
  const part = Number(call.query.get('part'))
  const digest = part === 0 ? { hash: createDigest(), bytes: 0, mimeType } : digests.get(asset.urn)
  const expected = Math.min(partBytes, asset.total! - part * partBytes)
  if (!digest || part !== asset.parts.length || call.body.length !== expected) return invalid('', 'The part is not the one that was asked for')
  digest.hash.update(call.body)
  digest.bytes += call.body.length
  digests.set(asset.urn, digest)
  const etag = createHash('md5').update(call.body).digest('hex')
  world.assets.set(asset.urn, { ...asset, parts: [...asset.parts, etag] })
  return { status: 200, headers: { etag: `"${etag}"`, 'content-length': '0' }, body: '', outcome: 'granted' }
}

/** Digests per stand-in, for completing films whose parts have all arrived. */
export const finishers = new WeakMap<World, Digests>()

function finalize(world: World, account: Account, request: Readonly<Record<string, unknown>> | undefined): Reply {
  const { video, uploadToken, uploadedPartIds } = request ?? {}
  const asset = typeof video === 'string' ? world.assets.get(video) : undefined
  if (!asset || !mayActAs(world, account, asset.owner)) return problem(404)
  const digest = finishers.get(world)?.get(asset.urn)
  const isWhole = digest?.bytes === asset.total && JSON.stringify(uploadedPartIds) === JSON.stringify(asset.parts)
  if (!digest || !isWhole || uploadToken !== asset.uploadToken)
    return invalid('/finalizeUploadRequest/uploadedPartIds', 'The parts are not those that were uploaded')
  finishers.get(world)!.delete(asset.urn)
  const received = { mimeType: digest.mimeType, bytes: digest.bytes, sha256: digest.hash.digest() }
  const { readyAt, isBroken } = workedUp(world, account)
  const isRefused = filmFault(filmRules.linkedin, digest.hash.film()) !== null
  world.assets.set(asset.urn, { ...asset, readyAt, isBroken: isBroken || isRefused, received, isFinal: true })
  return { status: 200, headers: { 'content-length': '0' }, body: '', outcome: 'granted' }
}

/** Returns when an uploaded medium becomes ready: at once, unless a fault delays it. */
function workedUp({ faults, name, clock }: World, { username }: Account): Pick<Asset, 'readyAt' | 'isBroken'> {
  const fault = faults.take(name, ['processing', 'processing-error'], username)
  return { readyAt: clock.now().getTime() + (fault?.fault === 'processing' ? (fault.delayMs ?? 0) : 0), isBroken: fault?.fault === 'processing-error' }
}

/** Returns the processing status of a medium in LinkedIn's terms. */
export function statusOf({ clock }: World, { isFinal, isBroken, readyAt }: Asset): 'WAITING_UPLOAD' | 'PROCESSING' | 'PROCESSING_FAILED' | 'AVAILABLE' {
  if (!isFinal) return 'WAITING_UPLOAD'
  if (isBroken) return 'PROCESSING_FAILED'
  return clock.now().getTime() < readyAt ? 'PROCESSING' : 'AVAILABLE'
}

const shown = (world: World, asset: Asset) => {
  const status = statusOf(world, asset)
  return { id: asset.urn, owner: asset.owner, status, ...(status === 'PROCESSING_FAILED' && { processingFailureReason: 'The file could not be decoded' }) }
}

/** Answers `GET /rest/{images,videos}/:urn` and `?ids=List(…)`. */
export function findAssets(world: World, call: Call, account: Account, kind: Asset['kind'], urn: string): Reply {
  const mine = (key: string) => {
    const asset = world.assets.get(key)
    return asset?.kind === kind && mayActAs(world, account, asset.owner) ? asset : undefined
  }
  if (urn) {
    const asset = mine(urn)
    return asset ? json(200, shown(world, asset), 'read') : problem(404)
  }
  const keys = keysIn(call)
  if (!keys) return invalid('ids', 'expected List(urn:li:image:…)')
  const found = keys.flatMap(key => mine(key) ?? [])
  const results = Object.fromEntries(found.map(asset => [asset.urn, shown(world, asset)]))
  return json(200, { results, statuses: {}, errors: Object.fromEntries(keys.filter(key => !results[key]).map(key => [key, { status: 404 }])) }, 'read')
}

/** Returns a file's type, detected from its first bytes. */
function typeIn(bytes: Buffer): string {
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'image/jpeg'
  if (bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'image/png'
  if (/^GIF8[79]a$/.test(bytes.subarray(0, 6).toString('latin1'))) return 'image/gif'
  if (bytes.subarray(4, 8).toString('latin1') === 'ftyp') return bytes.subarray(8, 10).toString('latin1') === 'qt' ? 'video/quicktime' : 'video/mp4'
  return 'application/octet-stream'
}
