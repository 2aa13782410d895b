import type { MediaType } from '../../stores/media/asset.ts'

/**
 * Whether a picture in WebP or PNG is animated, by its own marks: the flag of an extended WebP, or the control chunk of
 * an animated PNG.
 */
export function isAnimated(bytes: Uint8Array, type: MediaType): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // https://developers.google.com/speed/webp/docs/riff_container#extended_file_format
  if (type === 'image/webp') return file.toString('latin1', 12, 16) === 'VP8X' && (file[20]! & 2) !== 0
  return type === 'image/png' && hasControl(file)
}

/** PNG chunk types as numbers. */
const marks = { acTL: 0x6163544c, IDAT: 0x49444154 } as const

/** Whether the chunk `acTL` precedes the pixel data (https://www.w3.org/TR/png-3/#11acTL). */
function hasControl(file: Buffer): boolean {
  for (let at = 8; at + 8 <= file.length; at += 12 + file.readUInt32BE(at)) {
    // Stores numbers, not text: a file may have two million empty chunks.
    const type = file.readUInt32BE(at + 4)
    if (type === marks.acTL) return true
    if (type === marks.IDAT) return false
  }
  return false
}
