/** Width and height of a picture, in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** Maximum bytes of a JPEG that are searched for its size, behind the camera's metadata. */
const jpegWithin = 256 * 1024
/** Maximum bytes of any other picture. */
const headBytes = 64

/** Reads the size of a picture from its `data:` address; null where its header does not show it. */
export function sizeOf(url: string): Size | null {
  const at = url.indexOf(',') + 1
  const bytes = (count: number) => Buffer.from(url.slice(at, at + Math.ceil(count / 3) * 4), 'base64')
  const head = bytes(headBytes)
  const size = isJpeg(head) ? jpegSize(bytes(jpegWithin)) : (pngSize(head) ?? gifSize(head) ?? webpSize(head))
  return size && size.width > 0 && size.height > 0 ? size : null
}

const isJpeg = (head: Buffer): boolean => head.length > 3 && head.readUInt16BE(0) === 0xffd8

const pngSize = (head: Buffer): Size | null =>
  head.length >= 24 && head.toString('latin1', 1, 4) === 'PNG' ? { width: head.readUInt32BE(16), height: head.readUInt32BE(20) } : null

const gifSize = (head: Buffer): Size | null =>
  head.length >= 10 && head.toString('latin1', 0, 4) === 'GIF8' ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) } : null

/**
 * Reads the size of a WebP file: https://developers.google.com/speed/webp/docs/riff_container (lossy, lossless and
 * extended).
 */
function webpSize(head: Buffer): Size | null {
  if (head.length < 30 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WEBP') return null
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}

/** Finds the frame header of a JPEG (ISO/IEC 10918-1, B.2.2), segment by segment. */
function jpegSize(file: Buffer): Size | null {
  for (let at = 2; at + 9 < file.length; ) {
    if (file[at] !== 0xff) return null
    const marker = file[at + 1]!
    // Fill bytes, and markers without a length.
    if (marker === 0xff) {
      at += 1
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: file.readUInt16BE(at + 7), height: file.readUInt16BE(at + 5) }
    at += 2 + file.readUInt16BE(at + 2)
  }
  return null
}
