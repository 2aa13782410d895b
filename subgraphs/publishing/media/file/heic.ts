import { Worker } from 'node:worker_threads'
import type { HeicPixels, HeicTask } from './heic-worker.ts'
import { type InTurn, jpegOf, NoPicture } from './picture.ts'

/** A HEIC may have so many pixels: phones write 12 and 24 million unless they are told otherwise, and each takes some ten bytes to decode. */
const maxPixels = 25_000_000
/** How much memory its decoder may have, in bytes: 24 megapixels take 300 MB. */
const maxBytes = 448 * 1024 * 1024
/** How long it may take, in ms. */
const timeoutMs = 20_000
/** How much more work a megapixel of it is than one of the other formats. */
const weightOfMegapixel = 15
/** As much of a file as its description is looked for in: that of a phone has some kilobytes. */
const describedWithin = 1024 * 1024

/** The largest size that the description of a HEIC names, in pixels (`ispe`, ISO/IEC 23008-12 §6.5.3). */
function pixelsOf(file: Buffer): number {
  let most = 0
  for (let at = file.indexOf('ispe'); at >= 0 && at + 16 <= file.length; at = file.indexOf('ispe', at + 4))
    most = Math.max(most, file.readUInt32BE(at + 8) * file.readUInt32BE(at + 12))
  return most
}

/** The colour profile that a HEIC holds (`colr` of kind `prof`, ISO 14496-12 §12.1.5); null for one that holds none. */
function profileOf(file: Buffer): Buffer | null {
  const at = file.indexOf('colrprof')
  if (at < 4) return null
  const end = at - 4 + file.readUInt32BE(at - 4)
  return end > at + 8 && end <= file.length ? file.subarray(at + 8, end) : null
}

/** Decodes in a thread of its own, which ends with it and gives its memory back. */
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
 * A HEIC as JPEG: upright, with its colour profile, and without what the camera wrote beside it. Browsers and networks take no HEIC.
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
