import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'

/** Where pictures are that were accepted, and where those lie that differ from them. */
const kept = join(import.meta.dirname, 'accepted')
const different = join(import.meta.dirname, '..', '..', '..', '.data-pictures')

/** Whether what is drawn now is accepted as it is: `npm run pictures:accept`. */
const isAccepting = process.env.PICTURES === 'accept'

/** How far a channel of a pixel may be off, of 255: letters have soft edges, and kept pictures have few colours. */
const maxOff = 48
/** Pictures are compared by squares of so many pixels a side, so that a small change of a large picture counts. */
const side = 64
/** The share of a square's pixels that may be off. */
const maxShare = 0.01

/** A picture as its pixels: red, green and blue, row by row. */
export interface Pixels {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
}

/** Where a picture differs from another: squares by their corner, in pixels. */
export interface Difference {
  readonly x: number
  readonly y: number
  /** The share of its pixels that are off. */
  readonly share: number
}

/** Finds the squares in which two pictures of one size differ. */
export function differencesOf(one: Pixels, other: Pixels): readonly Difference[] {
  const found: Difference[] = []
  for (let y = 0; y < one.height; y += side)
    for (let x = 0; x < one.width; x += side) {
      const [right, bottom] = [Math.min(x + side, one.width), Math.min(y + side, one.height)]
      let off = 0
      for (let row = y; row < bottom; row += 1)
        for (let column = x; column < right; column += 1) {
          const at = (row * one.width + column) * 3
          const isOff = [0, 1, 2].some(channel => Math.abs(one.data[at + channel]! - other.data[at + channel]!) > maxOff)
          if (isOff) off += 1
        }
      const share = off / ((right - x) * (bottom - y))
      if (share > maxShare) found.push({ x, y, share })
    }
  return found
}

async function pixelsOf(png: Uint8Array): Promise<Pixels> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

/** Marks the squares of a picture that differ. */
function marked(png: Uint8Array, { width, height }: Pixels, differences: readonly Difference[]): Promise<Buffer> {
  const squares = differences.map(({ x, y }) => `<rect x="${x}" y="${y}" width="${side}" height="${side}" fill="none" stroke="#f0f" stroke-width="2"/>`)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${squares.join('')}</svg>`
  return sharp(png)
    .composite([{ input: Buffer.from(svg) }])
    .png()
    .toBuffer()
}

/**
 * Compares a picture with the accepted one of its name, or accepts it. One that differs is written down with its
 * differences marked.
 * @returns what differs, in a sentence; null for nothing
 */
export async function compare(name: string, png: Uint8Array): Promise<string | null> {
  const file = join(kept, `${name}.png`)
  if (isAccepting) {
    mkdirSync(kept, { recursive: true })
    writeFileSync(file, await sharp(png).removeAlpha().png({ palette: true, colours: 64, dither: 0, effort: 10, compressionLevel: 9 }).toBuffer())
    return null
  }
  const present = await pixelsOf(png)
  const before = existsSync(file) ? await pixelsOf(readFileSync(file)) : null
  const isSameSize = before !== null && before.width === present.width && before.height === present.height
  const differences = isSameSize ? differencesOf(before, present) : []
  if (isSameSize && differences.length === 0) return null
  mkdirSync(different, { recursive: true })
  const seen = join(different, `${name}.png`)
  writeFileSync(seen, await marked(png, present, differences))
  if (!before) return `${name} was never accepted: look at ${seen}, then npm run pictures:accept`
  const what = isSameSize
    ? `differs in ${differences.length} squares, the first at ${differences[0]!.x}, ${differences[0]!.y}`
    : `is ${present.width} × ${present.height} pixels large, and was ${before.width} × ${before.height}`
  return `${name} ${what}: look at ${seen}`
}
