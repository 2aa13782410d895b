import type { Sharp } from 'sharp'
import type { TurnOptions } from '../../../../platform/jobs/turns.ts'
import type { MediaType } from '../../stores/media/asset.ts'
import { mostPictureBytes } from './type.ts'

/** A picture may have so many pixels. */
const mostPixels = 100_000_000
/** Both sides of a preview at most, in pixels. */
const previewSide = 640
/** How long one picture may take, in seconds. */
const patience = 20

/** Thrown for what is no picture that can be read; its sentence is for people. */
export class NoPicture extends Error {
  override readonly name = 'NoPicture'
}

let loading: Promise<typeof import('sharp')['default']> | undefined

/** Loaded with the first picture: most processes never see one. */
function sharp() {
  loading ??= import('sharp').then(({ default: made }) => {
    // Decoded pictures are not cached, and each is processed by one thread, several at once.
    made.cache(false)
    made.concurrency(1)
    return made
  })
  return loading
}

/**
 * How many pictures are worked on at once in one process: two, and one more for deliveries. One of them may be heavy, for as long as it is
 * decoded it may take some hundred MiB. What waits of one organization is done in about 3 s of a core, of all in half a minute.
 */
export const turnsOfPictures: TurnOptions = {
  what: 'pictures',
  places: 2,
  reserved: 1,
  heavyFrom: 50,
  maxWaiting: { ofKey: 1_000, inAll: 10_000 },
  perSecond: 300,
}

/** Has a piece of work on a picture done when its turn has come. @param weight as of `weightOf` */
export type InTurn = <Result>(weight: number, work: () => Promise<Result>) => Promise<Result>

const open = async (bytes: Uint8Array, animated = false): Promise<Sharp> => {
  const make = await sharp()
  return make(bytes, { limitInputPixels: mostPixels, failOn: 'error', sequentialRead: true, animated }).timeout({ seconds: patience })
}

const formats: Readonly<Record<string, MediaType>> = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp', gif: 'image/gif' }

/** What a picture's head says of it. */
export interface Head {
  /** As it is shown. */
  readonly width: number
  readonly height: number
  /** How much work it is to decode. */
  readonly weight: number
}

const [million, mebibyte] = [1_000_000, 1024 * 1024]

/**
 * How much work it is to decode a picture: a megapixel is 1, a mebibyte 2, for compressed bytes take longer than empty planes. A progressive
 * JPEG is read as often as it has scans.
 */
const weightOf = (
  { width, height, isProgressive = false }: { readonly width: number; readonly height: number; readonly isProgressive?: boolean | undefined },
  bytes: number,
) => ((width * height) / million) * (isProgressive ? 4 : 1) + (2 * bytes) / mebibyte

/** How much work it is to look at a file without decoding it. */
export const weightOfLook = (bytes: number): number => 1 + bytes / mebibyte

/**
 * Reads what a picture's head says of its size.
 * @throws NoPicture for one that is not what its first bytes say, or has too many pixels
 */
export async function lookAtPicture(bytes: Uint8Array, type: MediaType): Promise<Head> {
  // Reads the header without the limit, to tell too many pixels from an invalid picture.
  const make = await sharp()
  const head = await make(bytes, { limitInputPixels: false, failOn: 'none' })
    .metadata()
    .catch(() => null)
  if (!head || formats[head.format ?? ''] !== type || !head.width || !head.height)
    throw new NoPicture('The file begins as a picture and is none, or is cut off: it cannot be read.')
  const pages = head.pages ?? 1
  if (head.width * head.height > mostPixels || (type === 'image/gif' && head.width * head.height * pages > mostPixels * 10))
    throw new NoPicture(`The picture has ${head.width} × ${head.height} pixels: 100 million are the most.`)
  const isTurned = (head.orientation ?? 1) >= 5
  const weight = weightOf(head, bytes.byteLength)
  return isTurned ? { width: head.height, height: head.width, weight } : { width: head.width, height: head.height, weight }
}

/** Whether a picture took too long, or its decoder could not work: neither says that the picture is damaged. */
const isOurs = (error: unknown): boolean => /timeout|out of memory|unable to allocate/i.test(error instanceof Error ? error.message : '')

/**
 * Makes a small picture of a picture, in WebP, without what a camera wrote into it. All of it is decoded, as each network's form is.
 * @returns null when it takes too long
 * @throws NoPicture for a picture that is cut off or damaged
 */
export const previewOf = (bytes: Uint8Array, { weight }: Pick<Head, 'weight'>, inTurn: InTurn): Promise<Buffer | null> =>
  inTurn(weight, async () => {
    try {
      const upright = (await open(bytes)).rotate()
      return await upright.resize(previewSide, previewSide, { fit: 'inside', withoutEnlargement: true }).webp({ quality: 80 }).toBuffer()
    } catch (error) {
      if (isOurs(error)) return null
      throw new NoPicture('The picture cannot be decoded: it is cut off, or damaged. Upload it again.')
    }
  })

/** A form that a network takes. */
export interface Form {
  /** Types that it takes, the one that others become first. */
  readonly types: readonly [MediaType, ...MediaType[]]
  readonly bytes: number
  /** Both sides at most, in pixels. */
  readonly side: number
  /** The least and the most of width by height: what lies outside gets a white rim. @default any */
  readonly ratio?: readonly [least: number, most: number]
}

export interface Formed {
  readonly mimeType: MediaType
  readonly width: number
  readonly height: number
  readonly bytes: Buffer
}

/** Qualities and sizes that are tried one after the other until a picture is small enough. */
const steps = [
  { quality: 90, scale: 1 },
  { quality: 80, scale: 1 },
  { quality: 75, scale: 0.75 },
  { quality: 70, scale: 0.5 },
  { quality: 60, scale: 0.35 },
] as const

/**
 * A picture written anew as a network takes it: upright, and without what a camera wrote into it, where it was taken among that. Each try takes
 * a turn of its own.
 * @throws NoPicture when it cannot be decoded, or made small enough
 */
export async function formOf(bytes: Uint8Array, type: MediaType, { types, bytes: most, side, ratio }: Form, inTurn: InTurn): Promise<Formed> {
  const kept = types.includes(type) ? type : types[0]
  const head = await inTurn(weightOfLook(bytes.byteLength), () => lookAtPicture(bytes, type))
  for (const [at, { quality, scale }] of steps.entries()) {
    // A lossless picture that is too large is converted to a lossy format: smaller dimensions alone would lose more.
    const mimeType = at > 0 && kept === 'image/png' && types.includes('image/jpeg') ? 'image/jpeg' : kept
    const longest = Math.max(1, Math.round(side * scale))
    const written = Math.min(longest ** 2, head.width * head.height) / million
    const made = await inTurn(head.weight + written, async () => {
      const scaled = (await open(bytes)).rotate().toColorspace('srgb').resize(longest, longest, { fit: 'inside', withoutEnlargement: true })
      if (ratio) scaled.extend({ ...rimOf(await shownSize(bytes, longest), ratio), background: '#ffffff' })
      const opaque = mimeType === 'image/jpeg' ? scaled.flatten({ background: '#ffffff' }).jpeg({ quality, mozjpeg: false }) : scaled
      const encoded = mimeType === 'image/png' ? opaque.png() : mimeType === 'image/webp' ? opaque.webp({ quality }) : opaque
      return encoded.toBuffer({ resolveWithObject: true }).catch(() => {
        throw new NoPicture('The picture cannot be decoded: upload it again.')
      })
    })
    if (made.data.length <= most) return { mimeType, width: made.info.width, height: made.info.height, bytes: made.data }
  }
  throw new NoPicture(`The picture cannot be made as small as ${most} bytes: upload a smaller one.`)
}

/** What a picture measures once it is upright and within a side. */
async function shownSize(bytes: Uint8Array, side: number): Promise<{ readonly width: number; readonly height: number }> {
  const { width, height, orientation = 1 } = await (await open(bytes)).metadata()
  const scale = Math.min(1, side / Math.max(width, height))
  const [across, down] = orientation >= 5 ? [height, width] : [width, height]
  return { width: Math.max(1, Math.round(across * scale)), height: Math.max(1, Math.round(down * scale)) }
}

/** The rim that brings a picture's sides into a ratio, in pixels. */
function rimOf({ width, height }: { readonly width: number; readonly height: number }, [least, most]: readonly [number, number]) {
  const across = Math.max(0, Math.ceil(height * least) - width)
  const down = Math.max(0, Math.ceil(width / most) - height)
  return { left: across >> 1, right: across - (across >> 1), top: down >> 1, bottom: down - (down >> 1) }
}

/** A picture of one colour, `#2f6f9f`, as PNG. */
export const plainPicture = async (width: number, height: number, background: string): Promise<Buffer> =>
  (await sharp())({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()

/** How many bytes of a colour profile one segment of a JPEG holds. */
const maxProfile = 65_519

/**
 * Pixels of red, green, blue and alpha as JPEG of 25 MiB at most.
 * @param profile in which colours they are @default sRGB
 */
export async function jpegOf(
  { data, width, height }: { readonly data: Uint8ClampedArray; readonly width: number; readonly height: number },
  profile: Uint8Array | null,
): Promise<Buffer> {
  const make = await sharp()
  let written = Buffer.alloc(0)
  for (const quality of [92, 80, 60]) {
    written = await make(data, { raw: { width, height, channels: 4 } })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality })
      .toBuffer()
    if (written.length <= mostPictureBytes - maxProfile) break
  }
  if (!profile || profile.length > maxProfile) return written
  // The profile as it is, in a segment of its own behind the first two bytes (ICC.1 B.4): the encoder would convert to it.
  const head = Buffer.from('\xff\xe2\0\0ICC_PROFILE\0\x01\x01', 'latin1')
  head.writeUInt16BE(head.length - 2 + profile.length, 2)
  return Buffer.concat([written.subarray(0, 2), head, profile, written.subarray(2)])
}
