/**
 * Returns the maximum duration of a recording in whole seconds, which some providers bill: it is reserved before the
 * call, and charged where the provider counts tokens. For uncompressed samples in a WAV file, header and size give it
 * exactly. For other formats it follows from the size: no codec in use has a lower bit rate.
 */
export function longestSeconds(file: Uint8Array): number {
  return Math.ceil(secondsOfSamples(file) ?? (file.byteLength * 8) / fewestBits)
}

/**
 * Returns the most likely duration of a recording in whole seconds: exact as above, else by the usual bit rate of
 * speech.
 */
export const usualSeconds = (file: Uint8Array): number => Math.ceil(secondsOfSamples(file) ?? (file.byteLength * 8) / usualBits)

/** Minimum bit rate: AMR and Opus begin a little above. */
const fewestBits = 4_000
/** Usual bit rate of MP3 and AAC for speech. */
const usualBits = 64_000

/** Format codes of uncompressed samples: integers, floats, and the two telephony formats. */
const plainFormats: readonly number[] = [1, 3, 6, 7]
/** Format code whose actual format follows later in the header. */
const extensible = 0xfffe

/**
 * Returns the seconds of a WAV file of uncompressed samples; null for anything else. The file's size counts, not the
 * header's length.
 */
function secondsOfSamples(file: Uint8Array): number | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  if (bytes.length < 44 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') return null
  let bytesASecond: number | null = null
  // Limits the number of chunks: a file with more was made to be slow to read.
  for (let at = 12, looked = 0; at + 8 <= bytes.length && looked < 100; looked++) {
    const name = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    if (name === 'fmt ' && size >= 16 && at + 24 <= bytes.length) bytesASecond = rateOf(bytes, at + 8)
    if (name === 'data') return bytesASecond && Math.min(bytes.length - at - 8, size || Number.POSITIVE_INFINITY) / bytesASecond
    at += 8 + size + (size % 2)
  }
  return null
}

/** Returns the bytes a second, by sample rate, channels and bits; null for compressed samples. */
function rateOf(bytes: Buffer, at: number): number | null {
  const extended = bytes.readUInt16LE(at) === extensible && at + 26 <= bytes.length
  const format = bytes.readUInt16LE(extended ? at + 24 : at)
  const [channels, samples, bits] = [bytes.readUInt16LE(at + 2), bytes.readUInt32LE(at + 4), bytes.readUInt16LE(at + 14)]
  if (!plainFormats.includes(format) || channels < 1 || bits < 8 || samples < slowest) return null
  return samples * channels * Math.ceil(bits / 8)
}

/** Minimum sample rate of recorded speech: below it, a small file would last days. */
const slowest = 1_000
