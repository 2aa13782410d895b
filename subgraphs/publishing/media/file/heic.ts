import { Worker } from 'node:worker_threads'
import type { HeicPixels, HeicTask } from './heic-worker.ts'
import { type InTurn, jpegOf, NoPicture } from './picture.ts'

/**
 * Maximum number of pixels of a HEIC picture: phones produce 12 or 24 million by default, and decoding takes about ten
 * bytes each.
 */
const maxPixels = 25_000_000
/** Memory limit of the HEIC decoder, in bytes: 24 megapixels take 300 MB. */
const maxBytes = 448 * 1024 * 1024
/** Timeout of decoding, in ms. */
const timeoutMs = 20_000
/** Decoding cost of a HEIC megapixel relative to a megapixel of other formats. */
const weightOfMegapixel = 15
/**
 * Number of leading bytes of a file that are searched for the description; a phone's description has some kilobytes.
 */
const describedWithin = 1024 * 1024

/** The largest size that the description of a HEIC names, in pixels (`ispe`, ISO/IEC 23008-12 §6.5.3). */
function pixelsOf(file: Buffer): number {
  let most = 0
  for (let at = file.indexOf('ispe'); at >= 0 && at + 16 <= file.length; at = file.indexOf('ispe', at + 4))
    most = Math.max(most, file.readUInt32BE(at + 8) * file.readUInt32BE(at + 12))
  return most
}

/** Returns the colour profile of a HEIC (`colr` of kind `prof`, ISO 14496-12 §12.1.5); null when it has none. */
function profileOf(file: Buffer): Buffer | null {
  const at = file.indexOf('colrprof')
  if (at < 4) return null
  const end = at - 4 + file.readUInt32BE(at - 4)
  return end > at + 8 && end <= file.length ? file.subarray(at + 8, end) : null
}

/** Decodes in a separate thread, which ends afterwards and so frees its memory. */
async function decode(bytes: Uint8Array): Promise<HeicPixels> {
  // Discards what the decoder prints.
  const worker = new Worker(new URL('./heic-worker.ts', import.meta.url), {
    workerData: { bytes, maxPixels, maxBytes } satisfies HeicTask,
    stdout: true,
    stderr: true,
  })
  const ended = Promise.withResolvers<HeicPixels>()
  const timer = setTimeout(() => ended.resolve(null), timeoutMs)
  worker.once('message', ended.resolve)
  worker.once('error', () => ended.resolve(null))
  worker.once('exit', () => ended.resolve(null))
  try {
    return await ended.promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

/**
 * Converts a HEIC to JPEG: upright, with its colour profile, and without the camera's metadata. Browsers and networks
 * do not accept HEIC.
 * @throws NoPicture
 */
export async function jpegOfHeic(file: Uint8Array, inTurn: InTurn): Promise<Uint8Array> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const described = bytes.subarray(0, describedWithin)
  const pixels = pixelsOf(described)
  if (pixels === 0) throw new NoPicture('The file begins as a HEIC and is none, or is cut off: it cannot be read.')
  if (pixels > maxPixels)
    throw new NoPicture(`The HEIC has ${Math.round(pixels / 1_000_000)} megapixels, and 25 can be converted: save it as JPEG, and upload that.`)
  return inTurn(1 + (pixels / 1_000_000) * weightOfMegapixel, async () => {
    const shown = await decode(file)
    if (!shown) throw new NoPicture('The HEIC cannot be decoded: it is cut off, or damaged. Upload it again, or save it as JPEG.')
    return jpegOf(shown, profileOf(described))
  })
}
