import PDFDocument from 'pdfkit'
import type { Fonts } from './fonts.ts'
import { type Run, runsOf } from './runs.ts'

/** A4 in points, its margin, and where the foot of a page stands. */
export const page = { width: 595, height: 842, margin: 50, foot: 800, bottom: 770 } as const

/** How a text stands on paper. */
export interface TextStyle {
  readonly size?: number
  readonly isBold?: boolean
  readonly isGrey?: boolean
  readonly align?: 'left' | 'right'
  readonly link?: string
}

const words = new Intl.Segmenter('en', { granularity: 'word' })
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' })

// The whole line is shaped at once, so no word is split by the library.
const plain = { lineBreak: false, features: [] } as const

/** A document in which every line of text is set with the fonts that have its characters, and in the direction of its scripts. */
export class Paper {
  readonly #pdf: PDFDocument
  readonly #fonts: Fonts
  readonly #chunks: Buffer[] = []
  readonly #widths = new Map<string, number>()
  readonly #ended: Promise<void>

  constructor(fonts: Fonts, { title, author, at }: { readonly title: string; readonly author: string; readonly at: Date }) {
    this.#fonts = fonts
    const info = { Title: title, Author: author, CreationDate: at, ModDate: at }
    const form = { size: 'A4', margin: 0, bufferPages: true, lang: 'en', displayTitle: true, pdfVersion: '1.7' } as const
    this.#pdf = new PDFDocument({ ...form, font: fonts.regular, info })
    for (const [name, font] of fonts.all) this.#pdf.registerFont(name, font)
    this.#pdf.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
    this.#ended = new Promise((resolve, reject) => this.#pdf.once('end', resolve).once('error', reject))
  }

  /** Splits a text into lines that are at most so wide: between words where it can, and anywhere in what has no blanks. */
  linesOf(text: string, width: number, style: TextStyle = {}): readonly string[] {
    return text.split(/\r\n|[\n\r\u2028\u2029]/).flatMap(paragraph => this.#wrapped(paragraph, width, style))
  }

  #wrapped(paragraph: string, width: number, style: TextStyle): readonly string[] {
    const lines: string[] = []
    let [line, used] = ['', 0]
    const add = (part: string) => {
      const wide = this.#partWidth(part, style)
      if (line !== '' && used + wide > width) {
        lines.push(line.trimEnd())
        line = ''
        used = 0
      }
      if (line === '' && lines.length > 0 && part.trim() === '') return
      line += part
      used += wide
    }
    for (const { segment } of words.segment(paragraph)) {
      if (this.#partWidth(segment, style) <= width) add(segment)
      else for (const { segment: cluster } of clusters.segment(segment)) add(cluster)
    }
    return [...lines, line.trimEnd()]
  }

  /** The width of a word or of a part of it: words of a line are shaped apart, so a line is as wide as its words. */
  #partWidth(part: string, style: TextStyle): number {
    const key = `${style.size ?? 10} ${style.isBold ?? false} ${part}`
    const known = this.#widths.get(key) ?? this.#widthOf(part, style)
    this.#widths.set(key, known)
    return known
  }

  /** Writes one line. @param x the left end of it, or with `align: 'right'` the right one */
  write(line: string, x: number, y: number, style: TextStyle = {}): void {
    const { isGrey = false, align = 'left', link } = style
    let at = align === 'right' ? x - this.#widthOf(line, style) : x
    this.#pdf.fillColor(isGrey ? '#555555' : '#111111')
    for (const run of this.#runsOf(line, style)) {
      this.#choose(run, style)
      this.#pdf.text(run.text, at, y, { ...plain, ...(link && { link }) })
      at += this.#pdf.widthOfString(run.text, plain)
    }
  }

  /** Draws a thin line across the page. */
  rule(y: number): void {
    const { margin, width } = page
    this.#pdf
      .moveTo(margin, y)
      .lineTo(width - margin, y)
      .lineWidth(1)
      .stroke('#bbbbbb')
  }

  turn(): void {
    this.#pdf.addPage()
  }

  /** Writes at the foot of every page. @param foot what is said, by the page's number and how many there are */
  finish(foot: (page: number, pages: number) => string): Promise<Uint8Array> {
    const { start, count } = this.#pdf.bufferedPageRange()
    for (let index = 0; index < count; index += 1) {
      this.#pdf.switchToPage(start + index)
      this.write(foot(index + 1, count), page.width - page.margin, page.foot, { size: 8, isGrey: true, align: 'right' })
    }
    this.#pdf.end()
    return this.#ended.then(() => Buffer.concat(this.#chunks))
  }

  #runsOf(line: string, { isBold }: TextStyle): readonly Run[] {
    return runsOf(line, cluster => {
      const name = this.#fonts.nameFor(cluster)
      return isBold && name === 'regular' ? 'bold' : name
    })
  }

  #choose({ font }: Run, { size = 10 }: TextStyle): void {
    this.#pdf.font(font).fontSize(size)
  }

  #widthOf(line: string, style: TextStyle): number {
    let width = 0
    for (const run of this.#runsOf(line, style)) {
      this.#choose(run, style)
      width += this.#pdf.widthOfString(run.text, plain)
    }
    return width
  }
}
