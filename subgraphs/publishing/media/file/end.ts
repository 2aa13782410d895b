import { setImmediate as others } from 'node:timers/promises'
import type { MediaType } from '../../stores/media/asset.ts'
import { NoPicture } from './picture.ts'

/** Number of steps after which the walk yields to other work of the process, which is some milliseconds. */
const stepsAtOnce = 1_000_000
/** Maximum number of padding bytes after a picture: some programs fill the last disk block. */
const maxPadding = 65_536

/** A file that is walked through, and how far. */
interface Walk {
  readonly bytes: Buffer
  at: number
}

/** Walks to the end of a picture, and yields regularly to other work. @throws NoPicture when the picture is cut off */
type Walker = (walk: Walk) => Iterable<void>

const cutOff = () => new NoPicture('The picture is cut off before its end: upload the whole file.')

const walkJpeg: Walker = function* (walk) {
  const { bytes } = walk
  let steps = 0
  /** Moves to the next marker within compressed data, past escaped bytes and restart markers (ITU T.81 B.1.1). */
  function* toMarker(): Generator<void> {
    for (let at = walk.at; at + 1 < bytes.length; at += 1) {
      if (++steps % stepsAtOnce === 0) yield
      if (bytes[at] !== 0xff) continue
      const marker = bytes[at + 1]!
      if (marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7)) continue
      walk.at = at
      return
    }
    throw cutOff()
  }
  for (walk.at = 2; ; ) {
    yield* toMarker()
    const marker = bytes[walk.at + 1]!
    walk.at += 2
    if (marker === 0xd9) return
    if (marker === 0x01 || marker === 0xd8) continue
    if (walk.at + 2 > bytes.length) throw cutOff()
    walk.at += Math.max(2, bytes.readUInt16BE(walk.at))
  }
}

const walkPng: Walker = function* (walk) {
  const { bytes } = walk
  let steps = 0
  for (walk.at = 8; walk.at + 12 <= bytes.length; ) {
    if (++steps % stepsAtOnce === 0) yield
    const isLast = bytes.readUInt32BE(walk.at + 4) === 0x49454e44
    walk.at += 12 + bytes.readUInt32BE(walk.at)
    if (walk.at > bytes.length) break
    if (isLast) return
  }
  throw cutOff()
}

const walkWebp: Walker = walk => {
  const { bytes } = walk
  const size = bytes.length < 12 ? Number.POSITIVE_INFINITY : 8 + bytes.readUInt32LE(4)
  if (size > bytes.length) throw cutOff()
  // Some programs omit the padding byte.
  walk.at = Math.min(bytes.length, size + (size % 2))
  return []
}

const walkGif: Walker = function* (walk) {
  const { bytes } = walk
  let steps = 0
  const colours = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1))
  function* blocks(): Generator<void> {
    for (;;) {
      if (++steps % stepsAtOnce === 0) yield
      const size = bytes[walk.at]
      if (size === undefined) throw cutOff()
      walk.at += 1 + size
      if (size === 0) return
    }
  }
  walk.at = 13 + colours(bytes[10] ?? 0)
  // Some programs write no end marker: then the file ends after a complete block.
  while (walk.at < bytes.length) {
    const kind = bytes[walk.at]
    if (kind === 0x3b) {
      walk.at += 1
      return
    }
    if (kind === 0x21) walk.at += 2
    else if (kind === 0x2c) walk.at += 11 + colours(bytes[walk.at + 9] ?? 0)
    else return
    yield* blocks()
  }
  if (walk.at > bytes.length) throw cutOff()
}

const walkers: Readonly<Partial<Record<MediaType, Walker>>> = { 'image/jpeg': walkJpeg, 'image/png': walkPng, 'image/webp': walkWebp, 'image/gif': walkGif }

const isPadding = (byte: number): boolean => byte === 0 || byte === 0xff || byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/**
 * Returns the length of the padding at the beginning of a piece. A JPEG also begins with 0xff, so the next byte
 * decides.
 */
function paddingOf(rest: Buffer): number {
  const to = Math.min(rest.length, maxPadding)
  for (let at = 0; at < to; at += 1) if (!isPadding(rest[at]!) || isJpeg(rest, at) || isFilm(rest, at)) return at
  return to
}

const isJpeg = (bytes: Buffer, at: number): boolean => bytes[at] === 0xff && bytes[at + 1] === 0xd8 && bytes[at + 2] === 0xff
const isFilm = (bytes: Buffer, at: number): boolean => bytes[at + 4] === 0x66 && bytes.toString('latin1', at + 4, at + 8) === 'ftyp'

/**
 * Whether phones and cameras append these bytes to a JPEG: further JPEGs (previews, gain maps; CIPA DC-007, ISO
 * 21496-1), a video (motion photos), or a trailer of Samsung's.
 */
const isOfCamera = (bytes: Buffer, at: number): boolean => isJpeg(bytes, at) || isFilm(bytes, at) || bytes.toString('latin1', bytes.length - 4) === 'SEFT'

/**
 * Returns a picture's bytes without trailing padding and without data that phones append.
 * @throws NoPicture for a picture that is cut off before its end, or followed by other bytes
 */
export async function pictureOf(file: Uint8Array, type: MediaType): Promise<Uint8Array> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const walk: Walk = { bytes, at: 0 }
  for (const _ of walkers[type]?.(walk) ?? []) await others()
  if (walk.at >= bytes.length) return file
  const rest = bytes.subarray(walk.at)
  const padding = paddingOf(rest)
  if (padding < rest.length && !(type === 'image/jpeg' && isOfCamera(rest, padding)))
    throw new NoPicture(`${rest.length} bytes follow the end of the picture: save the picture anew, and upload that.`)
  return file.subarray(0, walk.at)
}
