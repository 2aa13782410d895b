import { createHash } from 'node:crypto'

/** Properties that a film file states (ISO 14496-12); null for each that it does not state. */
export interface FilmFacts {
  readonly seconds: number
  readonly width: number
  readonly height: number
  readonly codec: string | null
  readonly sound: string | null
  readonly isQuicktime: boolean
}

/** Consumes the bytes of a file as they arrive and returns their digest and, for a film, its properties. */
export interface Digest {
  update(bytes: Uint8Array): void
  /** Returns the SHA-256 of all bytes so far, in hexadecimal. Ends the digest. */
  digest(): string
  /** Returns the film's properties; null when the file cannot be parsed. */
  film(): FilmFacts | null
}

/** Maximum number of bytes of a film's description that are held in memory. */
const mostHeld = 16 * 1024 * 1024

export function createDigest(): Digest {
  const hash = createHash('sha256')
  const boxes = createBoxes()
  return {
    update(bytes) {
      hash.update(bytes)
      boxes.push(bytes)
    },
    digest: () => hash.digest('hex'),
    film: () => boxes.film(),
  }
}

/** Parses the top-level boxes of a file piece by piece, and keeps its type and its description. */
function createBoxes() {
  let head = Buffer.alloc(0)
  let left = 0
  let kept: Buffer[] | null = null
  let isLost = false
  const found = new Map<string, Buffer>()
  let type = ''

  function begin(): void {
    const isLong = head.length >= 4 && head.readUInt32BE(0) === 1
    if (head.length < (isLong ? 16 : 8)) return
    const size = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE(0)
    type = head.toString('latin1', 4, 8)
    left = size === 0 ? Number.POSITIVE_INFINITY : size - (isLong ? 16 : 8)
    isLost = left < 0 || !/^[ -~]{4}$/.test(type)
    kept = (type === 'ftyp' || type === 'moov') && left <= mostHeld ? [] : null
    head = Buffer.alloc(0)
  }

  return {
    push(bytes: Uint8Array): void {
      let rest = Buffer.from(bytes)
      while (rest.length > 0 && !isLost) {
        if (left > 0) {
          const piece = rest.subarray(0, Math.min(left, rest.length))
          kept?.push(piece)
          left -= piece.length
          rest = rest.subarray(piece.length)
          if (left === 0 && kept) found.set(type, Buffer.concat(kept))
          continue
        }
        // Reads byte by byte, because the first bytes say how long the header is.
        head = Buffer.concat([head, rest.subarray(0, 1)])
        rest = rest.subarray(1)
        begin()
      }
    },
    film(): FilmFacts | null {
      const moov = found.get('moov')
      if (!moov) return null
      try {
        return describe(moov, found.get('ftyp')?.toString('latin1', 0, 4) === 'qt  ')
      } catch {
        return null
      }
    },
  }
}

interface Track {
  kind: string
  codec: string | null
  width: number
  height: number
}

const parents = ['mdia', 'minf', 'stbl']

function describe(moov: Buffer, isQuicktime: boolean): FilmFacts | null {
  let seconds: number | null = null
  const tracks: Track[] = []
  const walk = (box: Buffer, track: Track | null): void => {
    for (let at = 0; at + 8 <= box.length; ) {
      const size = box.readUInt32BE(at) || box.length - at
      const type = box.toString('latin1', at + 4, at + 8)
      const body = box.subarray(at + 8, at + size)
      if (size < 8) return
      at += size
      if (type === 'mvhd') seconds = body[0] === 1 ? Number(body.readBigUInt64BE(24)) / body.readUInt32BE(20) : body.readUInt32BE(16) / body.readUInt32BE(12)
      else if (type === 'trak') {
        const own: Track = { kind: '', codec: null, width: 0, height: 0 }
        tracks.push(own)
        walk(body, own)
      } else if (parents.includes(type)) walk(body, track)
      else if (track && type === 'tkhd') {
        // The last eight bytes are width and height in 16.16 fixed point.
        track.width = body.readUInt32BE(body.length - 8) >>> 16
        track.height = body.readUInt32BE(body.length - 4) >>> 16
      } else if (track && type === 'hdlr') track.kind = body.toString('latin1', 8, 12)
      else if (track && type === 'stsd' && body.length >= 16) track.codec = body.toString('latin1', 12, 16)
    }
  }
  walk(moov, null)
  const picture = tracks.find(({ kind }) => kind === 'vide')
  if (!picture || seconds === null || !Number.isFinite(seconds)) return null
  const { width, height, codec } = picture
  return { seconds, width, height, codec, sound: tracks.find(({ kind }) => kind === 'soun')?.codec ?? null, isQuicktime }
}
