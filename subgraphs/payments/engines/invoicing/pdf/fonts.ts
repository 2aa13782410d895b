import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { create, type Font } from 'fontkit'

/** Fonts of one document, of which each can write some characters. */
export interface Fonts {
  readonly bold: Font
  readonly regular: Font
  /** By name, all that the document may need. */
  readonly all: ReadonlyMap<string, Font>
  /** The name of the first font that has all characters of a cluster; that for Latin, which draws a box, where none has. */
  nameFor(cluster: string): string
}

const require = createRequire(import.meta.url)
const pathOf = (name: string): string => require.resolve(name)
// These packages export an index alone, beside whose folder the fonts lie.
const open = async ([name, file]: readonly [string, string]): Promise<Font> => create(await readFile(join(pathOf(name), '../../fonts', file)))

/** Those that are loaded whole, with Latin, Greek, Cyrillic and combining marks, and with Arabic. */
const whole = {
  regular: ['@embedpdf/fonts-latin', 'NotoSans-Regular.ttf'],
  bold: ['@embedpdf/fonts-latin', 'NotoSans-Bold.ttf'],
  arabic: ['@embedpdf/fonts-arabic', 'NotoNaskhArabic-Regular.ttf'],
} as const

/** Chinese comes in a hundred files, each with some of the characters: this package lists which. */
const chinese = '@fontsource-variable/noto-sans-sc'
const weight = { wght: 400 }

interface Slice {
  readonly file: string
  readonly ranges: readonly (readonly [number, number])[]
}

let loaded: Promise<Readonly<Record<keyof typeof whole, Font>>> | undefined
let slices: Promise<readonly Slice[]> | undefined

async function readSlices(): Promise<readonly Slice[]> {
  const listed = JSON.parse(await readFile(pathOf(`${chinese}/unicode.json`), 'utf8')) as Record<string, string>
  return Object.entries(listed).map(([name, ranges]) => ({
    file: `${chinese}/files/noto-sans-sc-${name.replace(/[[\]]/g, '')}-wght-normal.woff2`,
    ranges: ranges.split(',').map(range => {
      const [first, last = first] = range.slice(2).split('-')
      return [Number.parseInt(first!, 16), Number.parseInt(last!, 16)] as const
    }),
  }))
}

/** A font with some characters of a file of Chinese, in the usual weight; null for a file that has none of them after all. */
async function cut(file: string, characters: string): Promise<Font | null> {
  const { default: subset } = await import('subset-font')
  const font = create(await subset(await readFile(pathOf(file)), characters, { targetFormat: 'truetype', variationAxes: weight }))
  try {
    return [...characters].some(character => font.hasGlyphForCodePoint(character.codePointAt(0)!)) ? font : null
  } catch {
    // A font without characters has no table of them, which the library takes for a broken one.
    return null
  }
}

/** Opens the fonts that the texts of one document need. */
export async function openFonts(texts: readonly string[]): Promise<Fonts> {
  loaded ??= Promise.all([open(whole.regular), open(whole.bold), open(whole.arabic)]).then(([regular, bold, arabic]) => ({ regular, bold, arabic }))
  const { regular, bold, arabic } = await loaded
  const all = new Map<string, Font>([
    ['regular', regular],
    ['bold', bold],
    ['arabic', arabic],
  ])
  const wholes = ['regular', 'arabic'] as const
  const has = (font: Font, cluster: string): boolean => [...cluster].every(character => font.hasGlyphForCodePoint(character.codePointAt(0)!))
  const rare = new Set([...texts.join('')].filter(character => /\P{C}/u.test(character) && !wholes.some(name => has(all.get(name)!, character))))
  if (rare.size > 0) slices ??= readSlices()
  const pieces = (await slices) ?? []
  const wanted = Map.groupBy([...rare].sort(), character => {
    const point = character.codePointAt(0)!
    return pieces.find(({ ranges }) => ranges.some(([first, last]) => point >= first && point <= last))?.file
  })
  for (const [file, characters] of wanted) {
    const font = file ? await cut(file, characters.join('')) : null
    if (file && font) all.set(file, font)
  }
  const names = [...all.keys()].filter(name => name !== 'bold')
  return { regular, bold, all, nameFor: cluster => names.find(name => has(all.get(name)!, cluster)) ?? 'regular' }
}
