import { crc32, deflateSync } from 'node:zlib'

/** Files of each kind, made here: small, and whole. */

const u16 = (...numbers: number[]): Buffer => Buffer.from(numbers.flatMap(value => [value >> 8, value & 255]))
const u32 = (...numbers: number[]): Buffer =>
  Buffer.concat(
    numbers.map(value => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(value >>> 0)
      return bytes
    }),
  )

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  return Buffer.concat([u32(data.length), body, u32(crc32(body))])
}

/** A PNG that moves, as its control chunk says: two pictures of one colour. */
export function apng(): Buffer {
  const still = png()
  const control = chunk('acTL', u32(2, 0))
  // Behind the signature and the header.
  return Buffer.concat([still.subarray(0, 33), control, still.subarray(33)])
}

/** A PNG of one colour. @param data in place of its pixels */
export function png(width = 64, height = 48, colour: readonly number[] = [40, 90, 200], data?: Buffer): Buffer {
  const head = Buffer.concat([u32(width, height), Buffer.from([8, 2, 0, 0, 0])])
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from(colour))])
  const pixels = data ?? Buffer.concat(Array<Buffer>(height).fill(row))
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))])
}

export const box = (type: string, ...parts: (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body])
}

const matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

/**
 * A film of one second, 640 × 360 (ISO 14496-12).
 * @param written what is written about it, boxes below `moov`
 * @param units   how long it is, in thousandths of a second
 * @param sound   the codec of a track of sound; none is made without
 */
export function mp4({
  padding = 1_000,
  brand = 'isom',
  written = [] as Buffer[],
  units = 1000,
  codec = 'avc1',
  sound = '',
  width = 640,
  height = 360,
} = {}): Buffer {
  const samples = (name: string) => box('minf', box('stbl', box('stsd', u32(0, 1), box(name, Buffer.alloc(16)))))
  const track = box(
    'trak',
    box('tkhd', u32(7, 0, 0, 1, 0, 1000, 0, 0), u16(0, 0, 0, 0), matrix, u32(width << 16, height << 16)),
    box('mdia', box('mdhd', u32(0, 0, 0, 1000, 1000), u16(0x55c4, 0)), box('hdlr', u32(0, 0), 'vide', u32(0, 0, 0), 'v\0'), samples(codec)),
  )
  const audible = sound ? [box('trak', box('mdia', box('hdlr', u32(0, 0), 'soun', u32(0, 0, 0), 's\0'), samples(sound)))] : []
  const moov = box(
    'moov',
    box('mvhd', u32(0, 0, 0, 1000, units, 0x10000), u16(0x100, 0), u32(0, 0), matrix, u32(0, 0, 0, 0, 0, 0, 2)),
    track,
    ...audible,
    ...written,
  )
  return Buffer.concat([box('ftyp', brand, u32(512), 'isommp41'), moov, box('mdat', Buffer.alloc(padding, 7))])
}

/** The smallest GIF. */
export const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** A WebP of one colour in 38 bytes, whatever its size: 14 bits of width and of height, less one each (VP8L). */
export function wideWebp(width: number, height: number): Buffer {
  const bytes = Buffer.from('524946461e000000574542505650384c110000002f0567c10907d0b7bef4b3ff8188e87f0000', 'hex')
  const version = bytes.readUInt32LE(21) >>> 28
  bytes.writeUInt32LE((((width - 1) | ((height - 1) << 14)) >>> 0) + version * 2 ** 28, 21)
  return bytes
}
