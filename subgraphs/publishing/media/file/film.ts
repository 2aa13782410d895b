/** Properties that a film file states. */
export interface Film {
  readonly width: number
  readonly height: number
  readonly durationMs: number
  /**
   * Codecs by the names in their tracks, such as `avc1` and `mp4a`; null without such a track, or when the track names
   * none.
   */
  readonly videoCodec: string | null
  readonly audioCodec: string | null
  /**
   * First and last byte of each box that may reveal where the film was recorded: boxes for descriptive metadata, which
   * players do not need.
   */
  readonly hidden: readonly (readonly [number, number])[]
}

/** Reads a range of bytes of a file, both ends included; fewer at the file's end. */
export type ReadBytes = (first: number, last: number) => Promise<Uint8Array>

/** Maximum size of a film's description that is read, in bytes: a film of hours has some megabytes. */
const mostHeader = 32 * 1024 * 1024
/** Maximum number of boxes, in total and in nesting depth. */
const most = { boxes: 20_000, levels: 8 } as const

/** Thrown for a film file with invalid boxes. */
export class NoFilm extends Error {
  override readonly name = 'NoFilm'
}

interface Box {
  readonly type: string
  /** Start of the box in its buffer, header included. */
  readonly start: number
  readonly body: number
  readonly end: number
}

/**
 * Reads a film's size and duration, in MP4 (ISO 14496-12) or QuickTime: it reads only the headers of top-level boxes,
 * and the whole description. For any input it holds at most 32 MiB and reads some ten thousand boxes.
 * @throws NoFilm
 */
export async function readFilm(bytes: number, read: ReadBytes): Promise<Film> {
  let film: Film | null = null
  const beside: (readonly [number, number])[] = []
  let at = 0
  // Fragmented films continue with hundreds of media boxes: the metadata comes before them.
  for (let count = 0; at + 8 <= bytes && count < 1_000; count += 1) {
    const head = Buffer.from(await read(at, Math.min(at + 15, bytes - 1)))
    const { size, header } = sizeOf(head, 0, bytes - at)
    const type = head.toString('latin1', 4, 8)
    if (isWritten(type)) beside.push(hide(at, size, header))
    if (type === 'moov' && !film) {
      if (size > mostHeader) throw new NoFilm(`The description of the film is longer than ${mostHeader} bytes.`)
      const moov = Buffer.from(await read(at, at + size - 1))
      if (moov.length !== size) throw new NoFilm('The film ends within its description.')
      film = describe(moov, header, at)
    }
    at += size
  }
  if (!film) throw new NoFilm('The film has no description (moov): it is not whole, or no film.')
  return { ...film, hidden: [...film.hidden, ...beside].sort(([one], [other]) => one - other) }
}

/**
 * Whether a box holds metadata that people or cameras add to a film, e.g. the place of recording (§8.10.1, §8.11.1; XMP
 * is in `uuid`).
 */
const isWritten = (type: string): boolean => type === 'udta' || type === 'meta' || type === 'uuid'

function hide(start: number, size: number, header: number): readonly [number, number] {
  if (header !== 8) throw new NoFilm('What is written about the film is longer than any film is.')
  return [start, start + size - 1]
}

/**
 * Returns the size of a box and of its header. @param room bytes from the box's beginning to the end of its container
 */
function sizeOf(buffer: Buffer, at: number, room: number): { readonly size: number; readonly header: number } {
  const short = buffer.readUInt32BE(at)
  if (short === 0) return { size: room, header: 8 }
  if (short === 1 && buffer.length < at + 16) throw new NoFilm('A box of the film ends within its size.')
  const size = short === 1 ? Number(buffer.readBigUInt64BE(at + 8)) : short
  const header = short === 1 ? 16 : 8
  if (size < header || size > room) throw new NoFilm('A box of the film says that it is longer than what it lies in.')
  return { size, header }
}

/** Iterates over all boxes between two offsets. */
function* boxesIn(buffer: Buffer, from: number, to: number, counted: { boxes: number }): Generator<Box> {
  for (let at = from; at + 8 <= to; ) {
    if (++counted.boxes > most.boxes) throw new NoFilm('The film has more boxes than any film has.')
    const { size, header } = sizeOf(buffer, at, to - at)
    yield { type: buffer.toString('latin1', at + 4, at + 8), start: at, body: at + header, end: at + size }
    at += size
  }
}

interface Track {
  isVideo: boolean
  isSound: boolean
  codec: string | null
  width: number
  height: number
}

function describe(moov: Buffer, header: number, offset: number): Film {
  const counted = { boxes: 0 }
  const hidden: (readonly [number, number])[] = []
  const tracks: Track[] = []
  let durationMs: number | null = null

  const walk = (from: number, to: number, level: number, track: Track | null) => {
    if (level > most.levels) throw new NoFilm('The boxes of the film lie deeper in each other than those of any film.')
    for (const { type, start, body, end } of boxesIn(moov, from, to, counted)) {
      if (type === 'mvhd') durationMs = durationOf(moov, body, end)
      else if (isWritten(type)) hidden.push(hide(offset + start, end - start, body - start))
      else if (type === 'trak') {
        const own: Track = { isVideo: false, isSound: false, codec: null, width: 0, height: 0 }
        tracks.push(own)
        walk(body, end, level + 1, own)
      } else if (type === 'mdia' || type === 'minf' || type === 'stbl') walk(body, end, level + 1, track)
      else if (type === 'stsd' && track) track.codec = codecOf(moov, body, end)
      else if (type === 'tkhd' && track) Object.assign(track, sizeOfTrack(moov, body, end))
      else if (type === 'hdlr' && track && end - body >= 12) {
        const kind = moov.toString('latin1', body + 8, body + 12)
        track.isVideo ||= kind === 'vide'
        track.isSound ||= kind === 'soun'
      }
    }
  }
  walk(header, moov.length, 0, null)
  const shown = tracks.find(({ isVideo, width, height }) => isVideo && width > 0 && height > 0)
  if (!shown) throw new NoFilm('The film has no picture: a sound alone is none.')
  if (durationMs === null) throw new NoFilm('The film does not say how long it is.')
  const sound = tracks.find(({ isSound }) => isSound)
  return { width: shown.width, height: shown.height, durationMs, videoCodec: shown.codec, audioCodec: sound?.codec ?? null, hidden }
}

/** The name of a track's first form of samples (§8.5.2). */
function codecOf(moov: Buffer, body: number, end: number): string | null {
  const name = end - body >= 16 ? moov.toString('latin1', body + 12, body + 16) : ''
  return /^[\x21-\x7e][\x20-\x7e]{3}$/.test(name) ? name.trimEnd() : null
}

/** Reads the duration from a movie header (§8.2.2). */
function durationOf(moov: Buffer, body: number, end: number): number {
  const isLong = moov[body] === 1
  if (end - body < (isLong ? 32 : 20)) throw new NoFilm('The film’s header ends too early.')
  const scale = moov.readUInt32BE(body + (isLong ? 20 : 12))
  const units = isLong ? Number(moov.readBigUInt64BE(body + 24)) : moov.readUInt32BE(body + 16)
  const ms = scale === 0 ? Number.NaN : Math.round((units / scale) * 1000)
  // 24 days is the longest duration in ms that GraphQL's Int holds.
  if (!Number.isFinite(ms) || ms > 2_147_483_647) throw new NoFilm('The film says that it is longer than any film is.')
  return ms
}

/** Reads the displayed size from a track header (§8.3.2), rotated as its matrix states. */
function sizeOfTrack(moov: Buffer, body: number, end: number): Pick<Track, 'width' | 'height'> {
  const matrix = body + (moov[body] === 1 ? 52 : 40)
  if (end < matrix + 44) throw new NoFilm('A track of the film ends within its header.')
  const [width, height] = [moov.readUInt32BE(matrix + 36) >>> 16, moov.readUInt32BE(matrix + 40) >>> 16]
  const isTurned = moov.readInt32BE(matrix) === 0 && moov.readInt32BE(matrix + 4) !== 0
  return isTurned ? { width: height, height: width } : { width, height }
}
