/**
 * How long a recording can be at most, in whole seconds, for some providers bill those: what a call reserves before anybody has listened, and what it costs where the provider counts tokens
 * and not time. Of plain samples in a WAV file the header and the number of bytes say it exactly. Of anything else the bytes do: no codec in use
 * speaks in fewer bits a second than these.
 */
export function longestSeconds(file: Uint8Array): number {
  return Math.ceil(secondsOfSamples(file) ?? (file.byteLength * 8) / fewestBits)
}

/** How long a recording most likely is, in whole seconds: exact as above, else by the bits of most speech. */
export const usualSeconds = (file: Uint8Array): number => Math.ceil(secondsOfSamples(file) ?? (file.byteLength * 8) / usualBits)

/** Bits a second: AMR and Opus begin a little above. */
const fewestBits = 4_000
/** Bits a second of MP3 and AAC as recorders write speech. */
const usualBits = 64_000

/** What plain samples are called in a header: whole numbers, fractions, and the two laws of telephones. */
const plainFormats: readonly number[] = [1, 3, 6, 7]
/** The format whose own name stands further back in the header. */
const extensible = 0xfffe

/** Seconds of a WAV file of plain samples; null for anything else. What a header says of the length is not believed: the bytes that are there count. */
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

/** Bytes a second by what a player goes by: samples a second, channels, bits; null when they are no plain samples. */
function rateOf(bytes: Buffer, at: number): number | null {
  const extended = bytes.readUInt16LE(at) === extensible && at + 26 <= bytes.length
  const format = bytes.readUInt16LE(extended ? at + 24 : at)
  const [channels, samples, bits] = [bytes.readUInt16LE(at + 2), bytes.readUInt32LE(at + 4), bytes.readUInt16LE(at + 14)]
  if (!plainFormats.includes(format) || channels < 1 || bits < 8 || samples < slowest) return null
  return samples * channels * Math.ceil(bits / 8)
}

/** Samples a second below which nobody records speech: with fewer, a small file would be days. */
const slowest = 1_000
