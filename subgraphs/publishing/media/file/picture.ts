import type { Sharp } from 'sharp'
import type { TurnOptions } from '../../../../platform/jobs/turns.ts'
import type { MediaType } from '../../stores/media/asset.ts'
import { mostPictureBytes } from './type.ts'

/** Maximum number of pixels of a picture. */
const mostPixels = 100_000_000
/** Maximum width and height of a preview, in pixels. */
const previewSide = 640
/** Time limit for processing one picture, in seconds. */
const patience = 20

/** Thrown for a file that is no readable picture; its message is shown to users. */
export class NoPicture extends Error {
  override readonly name = 'NoPicture'
}

let loading: Promise<typeof import('sharp')['default']> | undefined

/** Loads the image library on first use: most processes never process a picture. */
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
 * Number of pictures that one process handles concurrently: two, and one more for deliveries. Only one of them may be
 * heavy, because decoding it may take several hundred MiB. The waiting work of one organization takes about 3 s of a
 * core, that of all about half a minute.
 */
export const turnsOfPictures: TurnOptions = {
  what: 'pictures',
  places: 2,
  reserved: 1,
  heavyFrom: 50,
  maxWaiting: { ofKey: 1_000, inAll: 10_000 },
  perSecond: 300,
}

/** Runs a piece of work on a picture when its turn comes. @param weight result of `weightOf` */
export type InTurn = <Result>(weight: number, work: () => Promise<Result>) => Promise<Result>

const open = async (bytes: Uint8Array, animated = false): Promise<Sharp> => {
  const make = await sharp()
  return make(bytes, { limitInputPixels: mostPixels, failOn: 'error', sequentialRead: true, animated }).timeout({ seconds: patience })
}

const formats: Readonly<Record<string, MediaType>> = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp', gif: 'image/gif' }

/** Properties that a picture's header states. */
export interface Head {
  /** Displayed width, in pixels. */
  readonly width: number
  readonly height: number
  /** Decoding cost of the picture, see `weightOf`. */
  readonly weight: number
}

const [million, mebibyte] = [1_000_000, 1024 * 1024]

/**
 * Returns the decoding cost of a picture: 1 per megapixel and 2 per mebibyte, because compressed bytes cost more than
 * empty areas. A progressive JPEG counts once per scan.
 */
const weightOf = (
  { width, height, isProgressive = false }: { readonly width: number; readonly height: number; readonly isProgressive?: boolean | undefined },
  bytes: number,
) => ((width * height) / million) * (isProgressive ? 4 : 1) + (2 * bytes) / mebibyte

/** Returns the cost of inspecting a file without decoding it. */
export const weightOfLook = (bytes: number): number => 1 + bytes / mebibyte

/**
 * Reads a picture's size from its header.
 * @throws NoPicture when the content contradicts the first bytes, or the picture has too many pixels
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
    throw new NoPicture(`The picture has ${head.width} × ${head.height} pixels: the maximum is 100 million.`)
  const isTurned = (head.orientation ?? 1) >= 5
  const weight = weightOf(head, bytes.byteLength)
  return isTurned ? { width: head.height, height: head.width, weight } : { width: head.width, height: head.height, weight }
}

/** Whether an error is a timeout or a failure of the decoder, and so no sign that the picture is damaged. */
const isOurs = (error: unknown): boolean => /timeout|out of memory|unable to allocate/i.test(error instanceof Error ? error.message : '')

/**
 * Returns a small WebP version of a picture without the camera's metadata. The whole picture is decoded, as for each
 * network's format.
 * @returns null on a timeout
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

/** The format that a network accepts. */
export interface Form {
  /** Accepted types; pictures of other types are converted to the first one. */
  readonly types: readonly [MediaType, ...MediaType[]]
  readonly bytes: number
  /** Maximum width and height, in pixels. */
  readonly side: number
  /** Minimum and maximum aspect ratio, width divided by height; pictures outside get a white border. @default any */
  readonly ratio?: readonly [least: number, most: number]
}

export interface Formed {
  readonly mimeType: MediaType
  readonly width: number
  readonly height: number
  readonly bytes: Buffer
}

/** Qualities and sizes that are tried in order until a picture is small enough. */
const steps = [
  { quality: 90, scale: 1 },
  { quality: 80, scale: 1 },
  { quality: 75, scale: 0.75 },
  { quality: 70, scale: 0.5 },
  { quality: 60, scale: 0.35 },
] as const

/**
 * Re-encodes a picture in the format that a network accepts: upright, and without the camera's metadata such as the
 * place. Each attempt waits for its own turn.
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

/** Returns the size of a picture after rotation and scaling to a maximum side. */
async function shownSize(bytes: Uint8Array, side: number): Promise<{ readonly width: number; readonly height: number }> {
  const { width, height, orientation = 1 } = await (await open(bytes)).metadata()
  const scale = Math.min(1, side / Math.max(width, height))
  const [across, down] = orientation >= 5 ? [height, width] : [width, height]
  return { width: Math.max(1, Math.round(across * scale)), height: Math.max(1, Math.round(down * scale)) }
}

/** Returns the border in pixels that changes a picture's aspect ratio into the limits. */
function rimOf({ width, height }: { readonly width: number; readonly height: number }, [least, most]: readonly [number, number]) {
  const across = Math.max(0, Math.ceil(height * least) - width)
  const down = Math.max(0, Math.ceil(width / most) - height)
  return { left: across >> 1, right: across - (across >> 1), top: down >> 1, bottom: down - (down >> 1) }
}

/** Returns a PNG picture of one colour, `#2f6f9f` by default. */
export const plainPicture = async (width: number, height: number, background: string): Promise<Buffer> =>
  (await sharp())({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()

/** Maximum number of bytes of a colour profile in one segment of a JPEG. */
const maxProfile = 65_519

/**
 * Encodes red, green, blue and alpha pixels as a JPEG of at most 25 MiB.
 * @param profile colour profile of the pixels @default sRGB
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
  // The unchanged profile in a segment of its own behind the first two bytes (ICC.1 B.4); the encoder would convert the
  // picture to the profile.
  const head = Buffer.from('\xff\xe2\0\0ICC_PROFILE\0\x01\x01', 'latin1')
  head.writeUInt16BE(head.length - 2 + profile.length, 2)
  return Buffer.concat([written.subarray(0, 2), head, profile, written.subarray(2)])
}
