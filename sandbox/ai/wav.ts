/** Returns the duration of a sound in seconds, from its RIFF WAVE header; null for any other file. */
export function secondsOfWav(file: Buffer): number | null {
  if (file.length < 12 || file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') return null
  let bytesASecond: number | null = null
  for (let at = 12; at + 8 <= file.length; ) {
    const [name, size] = [file.toString('latin1', at, at + 4), file.readUInt32LE(at + 4)]
    if (name === 'fmt ' && at + 20 <= file.length) bytesASecond = file.readUInt32LE(at + 16)
    // Uses the declared size up to the bytes present: recorders that were cut off declare more.
    if (name === 'data') return bytesASecond ? Math.min(size, file.length - at - 8) / bytesASecond : null
    at += 8 + size + (size % 2)
  }
  return null
}
