interface Recording {
  readonly seconds: number
  /** A second. @default 8000 */
  readonly samples?: number
  readonly channels?: number
  readonly bits?: number
  /** What its header says of the length, in bytes. @default the truth */
  readonly said?: number
}

/** A recording of silence as a WAV file of plain samples. */
export function wav({ seconds, samples = 8000, channels = 1, bits = 8, said }: Recording): Uint8Array<ArrayBuffer> {
  const frame = channels * (bits / 8)
  const length = Math.round(seconds * samples) * frame
  const file = Buffer.alloc(44 + length, bits === 8 ? 128 : 0)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + length, 4)
  file.write('WAVEfmt ', 8)
  for (const [value, at] of [
    [16, 16],
    [samples, 24],
    [samples * frame, 28],
  ] as const)
    file.writeUInt32LE(value, at)
  for (const [value, at] of [
    [1, 20],
    [channels, 22],
    [frame, 32],
    [bits, 34],
  ] as const)
    file.writeUInt16LE(value, at)
  file.write('data', 36)
  file.writeUInt32LE(said ?? length, 40)
  return new Uint8Array(file)
}
