import { crc32, deflateSync } from 'node:zlib'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Pixel data per image size; pictures of one size differ in their palette only. */
const pixels = new Map<string, Buffer>()

/** Returns a PNG picture of one colour. @param colour red, green and blue, 0 to 255 each */
export function png(width: number, height: number, colour: readonly [number, number, number], isTransparent = false): Buffer {
  const size = `${width}x${height}`
  const data = pixels.get(size) ?? deflateSync(Buffer.alloc((1 + Math.ceil(width / 8)) * height))
  pixels.set(size, data)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // One bit per pixel with a palette, and no optional chunks.
  header.set([1, 3, 0, 0, 0], 8)
  const transparency = isTransparent ? [chunk('tRNS', Buffer.from([0]))] : []
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colour)),
    ...transparency,
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const framed = Buffer.alloc(12 + data.length)
  framed.writeUInt32BE(data.length, 0)
  framed.write(type, 4, 'latin1')
  data.copy(framed, 8)
  framed.writeUInt32BE(crc32(framed.subarray(4, 8 + data.length)), 8 + data.length)
  return framed
}
