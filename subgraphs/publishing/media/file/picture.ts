import type { Sharp } from 'sharp'
import type { MediaType } from '../../stores/media/asset.ts'

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
    // What was decoded is not kept, and one picture is worked on by one thread: several come at once.
    made.cache(false)
    made.concurrency(1)
    return made
  })
  return loading
}

/** How many pictures are worked on at once in this process: each may take some hundred MiB while it is. */
const atOnce = 2
let underWay = 0
const waiting: (() => void)[] = []

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (underWay >= atOnce) await new Promise<void>(resolve => waiting.push(resolve))
  else underWay += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else underWay -= 1
  }
}

const open = async (bytes: Uint8Array, animated = false): Promise<Sharp> => {
  const make = await sharp()
  return make(bytes, { limitInputPixels: mostPixels, failOn: 'error', sequentialRead: true, animated }).timeout({ seconds: patience })
}

const formats: Readonly<Record<string, MediaType>> = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp', gif: 'image/gif' }

/**
 * What a picture's head says of its size, as it is shown.
 * @throws NoPicture for one that is not what its first bytes say, or has too many pixels
 */
export async function lookAtPicture(bytes: Uint8Array, type: MediaType): Promise<{ readonly width: number; readonly height: number }> {
  return inTurn(async () => {
    // Its head is read without the limit, so that too many pixels are told from what is no picture.
    const make = await sharp()
    const head = await make(bytes, { limitInputPixels: false, failOn: 'none' })
      .metadata()
      .catch(() => null)
    if (!head || formats[head.format ?? ''] !== type || !head.width || !head.height)
      throw new NoPicture('The file begins as a picture and is none: it cannot be read.')
    const pages = head.pages ?? 1
    if (head.width * head.height > mostPixels || (type === 'image/gif' && head.width * head.height * pages > mostPixels * 10))
      throw new NoPicture(`The picture has ${head.width} × ${head.height} pixels: 100 million are the most.`)
    const isTurned = (head.orientation ?? 1) >= 5
    return isTurned ? { width: head.height, height: head.width } : { width: head.width, height: head.height }
  })
}

/** A small picture of a picture, in WebP, without what a camera wrote into it. @throws what cannot be decoded */
export const previewOf = (bytes: Uint8Array): Promise<Buffer> =>
  inTurn(async () =>
    (await open(bytes)).rotate().resize(previewSide, previewSide, { fit: 'inside', withoutEnlargement: true }).webp({ quality: 80 }).toBuffer(),
  )

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
 * A picture written anew as a network takes it: upright, and without what a camera wrote into it, where it was taken among that.
 * @throws NoPicture when it cannot be decoded, or made small enough
 */
export const formOf = (bytes: Uint8Array, type: MediaType, { types, bytes: most, side, ratio }: Form): Promise<Formed> =>
  inTurn(async () => {
    const kept = types.includes(type) ? type : types[0]
    for (const [at, { quality, scale }] of steps.entries()) {
      // A picture without loss that is too large becomes one with: smaller sides alone would spoil it more.
      const mimeType = at > 0 && kept === 'image/png' && types.includes('image/jpeg') ? 'image/jpeg' : kept
      const longest = Math.max(1, Math.round(side * scale))
      const upright = await open(bytes)
      const scaled = upright.rotate().toColorspace('srgb').resize(longest, longest, { fit: 'inside', withoutEnlargement: true })
      if (ratio) scaled.extend({ ...rimOf(await shownSize(bytes, longest), ratio), background: '#ffffff' })
      const opaque = mimeType === 'image/jpeg' ? scaled.flatten({ background: '#ffffff' }).jpeg({ quality, mozjpeg: false }) : scaled
      const written = mimeType === 'image/png' ? opaque.png() : mimeType === 'image/webp' ? opaque.webp({ quality }) : opaque
      const made = await written.toBuffer({ resolveWithObject: true }).catch(() => {
        throw new NoPicture('The picture cannot be decoded: upload it again.')
      })
      if (made.data.length <= most) return { mimeType, width: made.info.width, height: made.info.height, bytes: made.data }
    }
    throw new NoPicture(`The picture cannot be made as small as ${most} bytes: upload a smaller one.`)
  })

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
export const plainPicture = (width: number, height: number, background: string): Promise<Buffer> =>
  inTurn(async () =>
    (await sharp())({ create: { width, height, channels: 3, background } })
      .png()
      .toBuffer(),
  )
