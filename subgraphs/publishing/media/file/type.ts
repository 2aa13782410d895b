import type { MediumKind } from '../../network/publication.ts'
import type { MediaType } from '../../stores/media/asset.ts'

/** Number of leading bytes that identify a file's type. */
export const headBytes = 32

const ascii = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to))

/**
 * Brands of ISO 14496-12 that players accept as MP4 (https://mp4ra.org). Pictures in the same container, such as AVIF,
 * have other brands.
 */
const mp4Brands = /^(?:isom|iso[2-9]|mp4[12]|avc1|dash|cmfc|mmp4|MSNV|M4V |M4VP|M4VH|ndsc|ndsh|F4V |f4v )$/

/**
 * Whether a file is a HEVC picture (ISO/IEC 23008-12 B.4), by its first 32 bytes: its main brand, or a compatible brand
 * beside a general main brand.
 */
export function isHeic(head: Uint8Array): boolean {
  if (ascii(head, 4, 8) !== 'ftyp') return false
  const brands = [ascii(head, 8, 12), ascii(head, 16, 20), ascii(head, 20, 24), ascii(head, 24, 28), ascii(head, 28, 32)]
  return /^hei[cxms]$/.test(brands[0]!) || (brands[0] === 'mif1' && brands.some(brand => /^hei[cx]$/.test(brand)))
}

/**
 * Returns the type under which a file is stored, from its first bytes alone: names and declared types are ignored. HEIC
 * becomes JPEG.
 * @returns null for a type that is not accepted
 */
export function typeOf(head: Uint8Array): MediaType | null {
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'image/jpeg'
  if (ascii(head, 0, 8) === '\x89PNG\r\n\x1a\n' && ascii(head, 12, 16) === 'IHDR') return 'image/png'
  if (/^GIF8[79]a$/.test(ascii(head, 0, 6))) return 'image/gif'
  if (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'WEBP') return 'image/webp'
  if (isHeic(head)) return 'image/jpeg'
  if (ascii(head, 4, 8) === 'ftyp') return ascii(head, 8, 12) === 'qt  ' ? 'video/quicktime' : mp4Brands.test(ascii(head, 8, 12)) ? 'video/mp4' : null
  // QuickTime files before 2004 have no file type box.
  return /^(?:moov|mdat|wide)$/.test(ascii(head, 4, 8)) ? 'video/quicktime' : null
}

export const kindOf = (type: MediaType): MediumKind => (type === 'image/gif' ? 'GIF' : type.startsWith('video/') ? 'VIDEO' : 'IMAGE')

const mebibyte = 1024 * 1024
const mostOf: Readonly<Record<MediumKind, number>> = { IMAGE: 25 * mebibyte, GIF: 15 * mebibyte, VIDEO: 1024 * mebibyte }

/** The most bytes that anything has. */
export const mostBytes = mostOf.VIDEO
/** The most bytes of a picture or GIF. */
export const mostPictureBytes = mostOf.IMAGE

/** Returns why a file of this type is too large, in a sentence; null when it is not. */
export function tooLarge(type: MediaType, bytes: number): string | null {
  const kind = kindOf(type)
  const what = { IMAGE: 'A picture', GIF: 'A GIF', VIDEO: 'A film' }[kind]
  return bytes > mostOf[kind] ? `${what} may have ${mostOf[kind] / mebibyte} MiB, and this one has ${bytes} bytes: make it smaller.` : null
}

/** Error message for a file of an unsupported type. */
export const noMedium = 'The file is no JPEG, PNG, WebP, HEIC, GIF, MP4 or QuickTime: its first bytes say so, whatever it is called.'
