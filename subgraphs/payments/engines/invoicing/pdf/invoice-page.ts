import type { InvoiceDocument, PrintedLine } from './document.ts'
import { openFonts } from './fonts.ts'
import { Paper, page } from './paper.ts'

/** Where the columns of the table stand: left ends, or for numbers right ends. */
const columns = { item: 50, quantity: 310, unit: 395, rate: 450, amount: 545 } as const
const itemWidth = 205
const lead = 14
const left = page.margin
const right = page.width - page.margin

/** All that stands on the paper, by which its fonts are chosen. */
const textsOf = ({ from, to, lines, memo, number, currency, paymentUrl }: InvoiceDocument): readonly string[] => [
  ...from,
  ...to,
  ...lines.flatMap(({ name, sku }) => [name, sku ?? '']),
  ...[memo ?? '', number, currency, paymentUrl ?? ''],
]

/** Prints an invoice as PDF: the same bytes for the same document. */
export async function printInvoice(invoice: InvoiceDocument): Promise<Uint8Array> {
  const { number, from, issuedAt } = invoice
  const paper = new Paper(await openFonts(textsOf(invoice)), { title: `Invoice ${number}`, author: from[0]!, at: issuedAt })
  let y = writeHead(paper, invoice)
  y = writeTableHead(paper, y, invoice)
  for (const line of invoice.lines) {
    const names = paper.linesOf(line.name, itemWidth)
    const skus = line.sku === null ? [] : paper.linesOf(line.sku, itemWidth, { size: 8 })
    const notes = skus.length + (line.discount === null ? 0 : 1)
    if (y + (names.length + notes) * lead > page.bottom) {
      paper.turn()
      y = writeTableHead(paper, page.margin, invoice)
    }
    y = writeLine(paper, line, { names, skus }, y)
  }
  y = writeTotals(paper, invoice, y)
  writeEnd(paper, invoice, y)
  return paper.finish((at, pages) => `${number} · Page ${at} of ${pages}`)
}

function writeHead(paper: Paper, { number, from, to, issuedOn, dueOn }: InvoiceDocument): number {
  const [name, ...rest] = from
  let y = page.margin
  for (const line of paper.linesOf(name!, 280, { size: 14, isBold: true })) {
    paper.write(line, left, y, { size: 14, isBold: true })
    y += 20
  }
  for (const text of rest)
    for (const line of paper.linesOf(text, 280)) {
      paper.write(line, left, y, { isGrey: true })
      y += lead
    }
  paper.write('Invoice', right, page.margin, { size: 20, isBold: true, align: 'right' })
  const facts = [`Number ${number}`, `Issued ${issuedOn}`, `Due ${dueOn}`]
  for (const [index, text] of facts.entries()) paper.write(text, right, page.margin + 30 + index * lead, { align: 'right' })
  y = Math.max(y, page.margin + 30 + facts.length * lead) + 20
  paper.write('Bill to', left, y, { size: 8, isGrey: true })
  y += lead
  for (const text of to)
    for (const line of paper.linesOf(text, right - left)) {
      paper.write(line, left, y)
      y += lead
    }
  return y + 16
}

function writeTableHead(paper: Paper, y: number, { currency }: InvoiceDocument): number {
  const style = { size: 8, isGrey: true } as const
  paper.write('Item', columns.item, y, style)
  for (const [text, x] of [
    ['Quantity', columns.quantity],
    ['Price', columns.unit],
    ['Tax', columns.rate],
    [`Amount in ${currency}`, columns.amount],
  ] as const)
    paper.write(text, x, y, { ...style, align: 'right' })
  paper.rule(y + lead)
  return y + lead + 6
}

function writeLine(
  paper: Paper,
  { quantity, unitAmount, taxRate, total, discount }: PrintedLine,
  { names, skus }: { readonly names: readonly string[]; readonly skus: readonly string[] },
  y: number,
): number {
  for (const [text, x] of [
    [quantity, columns.quantity],
    [unitAmount, columns.unit],
    [taxRate, columns.rate],
    [total, columns.amount],
  ] as const)
    paper.write(text, x, y, { align: 'right' })
  let at = y
  for (const name of names) {
    paper.write(name, columns.item, at)
    at += lead
  }
  for (const note of [...skus, ...(discount === null ? [] : [`Discount ${discount}`])]) {
    paper.write(note, columns.item, at, { size: 8, isGrey: true })
    at += lead
  }
  return at + 2
}

function writeTotals(paper: Paper, { subtotal, discount, tax, total, currency }: InvoiceDocument, from: number): number {
  const rows = [['Subtotal', subtotal], ...(discount === null ? [] : [['Discount', discount]]), ['Tax', tax]] as const
  let y = from + 8
  if (y + (rows.length + 2) * lead > page.bottom) {
    paper.turn()
    y = page.margin
  }
  paper.rule(y)
  y += 8
  for (const [label, amount] of rows) {
    paper.write(label!, columns.unit, y, { align: 'right', isGrey: true })
    paper.write(amount!, columns.amount, y, { align: 'right' })
    y += lead
  }
  paper.write('Total', columns.unit, y, { align: 'right', isBold: true })
  paper.write(`${total} ${currency}`, columns.amount, y, { align: 'right', isBold: true })
  return y + lead * 2
}

function writeEnd(paper: Paper, { memo, paymentUrl }: InvoiceDocument, from: number): void {
  let y = from
  const write = (text: string, link?: string) => {
    for (const line of paper.linesOf(text, right - left)) {
      if (y + lead > page.bottom) {
        paper.turn()
        y = page.margin
      }
      paper.write(line, left, y, link ? { link } : {})
      y += lead
    }
    y += lead
  }
  if (memo !== null) write(memo)
  if (paymentUrl !== null) write(`Pay online: ${paymentUrl}`, paymentUrl)
}
