// Four packages of PDF documents come without types: what is used of them.
declare module 'pdfkit' {
  import type { Readable } from 'node:stream'
  import type { Font } from 'fontkit'

  interface TextOptions {
    readonly lineBreak?: boolean
    readonly features?: readonly string[]
    readonly link?: string
  }

  export default class PDFDocument extends Readable {
    constructor(options: {
      readonly size: 'A4'
      readonly margin: number
      readonly bufferPages: true
      readonly font: Font
      readonly lang: string
      readonly displayTitle: true
      readonly pdfVersion: string
      readonly info: Readonly<Record<string, string | Date>>
    })
    registerFont(name: string, font: Font): this
    font(name: string): this
    fontSize(size: number): this
    fillColor(color: string): this
    text(text: string, x: number, y: number, options: TextOptions): this
    widthOfString(text: string, options: TextOptions): number
    moveTo(x: number, y: number): this
    lineTo(x: number, y: number): this
    lineWidth(width: number): this
    stroke(color: string): this
    addPage(): this
    switchToPage(page: number): this
    bufferedPageRange(): { readonly start: number; readonly count: number }
    end(): void
  }
}

declare module 'fontkit' {
  export interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean
    layout(text: string, features?: readonly string[]): unknown
  }
  export function create(bytes: Uint8Array): Font
}

declare module 'bidi-js' {
  interface Levels {
    readonly levels: Uint8Array
    readonly paragraphs: readonly { readonly start: number; readonly end: number; readonly level: number }[]
  }
  export default function bidiFactory(): {
    getEmbeddingLevels(text: string): Levels
    getMirroredCharacter(character: string): string | null
  }
}

declare module 'subset-font' {
  export default function subsetFont(
    font: Uint8Array,
    characters: string,
    options: { readonly targetFormat: 'truetype'; readonly variationAxes: Readonly<Record<string, number>> },
  ): Promise<Uint8Array>
}
