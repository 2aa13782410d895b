import { describe, expect, it } from 'vitest'
import { differencesOf, type Pixels } from '../journeys/pictures/compare.ts'

const [width, height] = [100, 80]

/** A grey picture in which some pixels have another grey. */
function picture(greyAt: (x: number, y: number) => number = () => 200): Pixels {
  const data = new Uint8Array(width * height * 3)
  for (let at = 0; at < width * height; at += 1) data.fill(greyAt(at % width, Math.floor(at / width)), at * 3, at * 3 + 3)
  return { data, width, height }
}

describe('the comparison of pictures', () => {
  it('finds the squares in which a line of one pixel is missing', () => {
    const lined = picture((_, y) => (y === 70 ? 90 : 200))
    expect(differencesOf(picture(), lined)).toEqual([
      { x: 0, y: 64, share: 1 / 16 },
      { x: 64, y: 64, share: 1 / 16 },
    ])
  })

  it('lets soft edges of letters pass, and a few pixels', () => {
    expect(
      differencesOf(
        picture(),
        picture((x, y) => 200 - ((x * y) % 48)),
      ),
    ).toEqual([])
    expect(
      differencesOf(
        picture(),
        picture((x, y) => (x < 6 && y < 6 ? 0 : 200)),
      ),
    ).toEqual([])
  })
})
