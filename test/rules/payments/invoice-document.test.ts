import { describe, expect, it } from 'vitest'
import { decimalsOf } from '../../../subgraphs/payments/engines/invoicing/amount.ts'
import { dueReminder, nextReminder, remindersOf } from '../../../subgraphs/payments/engines/invoicing/mail/queue.ts'
import type { InvoiceDocument } from '../../../subgraphs/payments/engines/invoicing/pdf/document.ts'
import { openFonts } from '../../../subgraphs/payments/engines/invoicing/pdf/fonts.ts'
import { printInvoice } from '../../../subgraphs/payments/engines/invoicing/pdf/invoice-page.ts'
import { runsOf } from '../../../subgraphs/payments/engines/invoicing/pdf/runs.ts'

const line = { name: 'Ticket', sku: null, quantity: '1', unitAmount: '10.00', discount: null, taxRate: '0 %', total: '10.00' }
const invoice: InvoiceDocument = {
  ...{ number: 'INV-000001', currency: 'EUR', from: ['Acme'], to: ['Ada'], issuedAt: new Date('2026-01-02T03:04:05Z'), issuedOn: '2026-01-02' },
  ...{ dueOn: '2026-01-16', lines: [line], subtotal: '10.00', discount: null, tax: '0.00', total: '10.00', memo: null, paymentUrl: null },
}
const print = async (more: Partial<InvoiceDocument> = {}) => Buffer.from(await printInvoice({ ...invoice, ...more }))
const pagesOf = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type \/Page\b/g)!.length
const fontsOf = (pdf: Buffer) => [...new Set(Array.from(pdf.toString('latin1').matchAll(/\/FontName \/[A-Z]{6}\+([\w-]+)/g), ([, name]) => name))].sort()

describe('printInvoice', () => {
  it('prints the same bytes for the same invoice', async () => {
    const [first, again] = [await print(), await print()]
    expect(first.subarray(0, 5).toString()).toBe('%PDF-')
    expect(again.equals(first)).toBe(true)
    expect((await print({ total: '11.00' })).equals(first)).toBe(false)
  })

  it('embeds the fonts of all scripts that stand on it, and no others', async () => {
    expect(fontsOf(await print())).toEqual(['NotoSans-Bold', 'NotoSans-Regular'])
    const all = fontsOf(await print({ from: ['王芳科技有限公司'], to: ['محمد علي'] }))
    expect(all).toEqual(expect.arrayContaining(['NotoNaskhArabic', 'NotoSans-Regular']))
    expect(all.some(name => name!.startsWith('NotoSansSC'))).toBe(true)
  })

  it('goes on over several pages with a hundred lines, and with a memo of a thousand characters', async () => {
    expect(pagesOf(await print())).toBe(1)
    const lines = Array.from({ length: 100 }, () => ({ ...line, sku: 'SKU', name: 'A name that is so long that it needs more than one line of its column' }))
    expect(pagesOf(await print({ lines, memo: 'word '.repeat(200) }))).toBeGreaterThan(4)
    expect(pagesOf(await print({ lines: [{ ...line, name: 'x'.repeat(200) }] }))).toBe(1)
  })
})

describe('runsOf', () => {
  const nameFor = (cluster: string) => (/\p{Script=Arabic}/u.test(cluster) ? 'arabic' : /\p{Script=Han}/u.test(cluster) ? 'chinese' : 'regular')
  const texts = (text: string) => runsOf(text, nameFor).map(run => run.text)

  it('keeps text that is read from the left as it is, one run a font', () => {
    expect(texts('Zoe\u0308 x\u0302')).toEqual(['Zoe\u0308 x\u0302'])
    expect(texts('张伟 (Zhang)')).toEqual(['张伟', ' (Zhang)'])
  })

  it('puts the first word of Arabic at the right, with numbers from the left and brackets turned', () => {
    expect(texts('محمد علي')).toEqual(['علي', ' ', 'محمد'])
    expect(texts('شركة (محمد) 2026')).toEqual(['2026', ' (', 'محمد', ') ', 'شركة'])
    expect(texts('Acme محمد علي Ltd')).toEqual(['Acme ', 'علي', ' ', 'محمد', ' Ltd'])
  })
})

describe('openFonts', () => {
  it('finds a font for Latin with any mark, Greek, Cyrillic, Arabic and Chinese, and a box for anything else', async () => {
    const { nameFor } = await openFonts(['q\u0303 Ελλάς Россия محمد 张 \u{1F9FE}'])
    expect(['q\u0303', 'Ε', 'Р', 'م', '\u{1F9FE}'].map(nameFor)).toEqual(['regular', 'regular', 'regular', 'arabic', 'regular'])
    expect(nameFor('张')).toMatch(/noto-sans-sc/)
  })
})

describe('decimalsOf', () => {
  it.each([
    [1250n, 'EUR', '12.50'],
    [5n, 'EUR', '0.05'],
    [-5n, 'EUR', '-0.05'],
    [0n, 'EUR', '0.00'],
    [1250n, 'JPY', '1250'],
    [1230n, 'BHD', '1.230'],
  ])('writes %s of %s as %s', (amount, currency, text) => expect(decimalsOf(amount, currency)).toBe(text))
})

describe('remindersOf', () => {
  const at = (day: number) => new Date(Date.UTC(2026, 0, 1 + day))

  it('leaves out moments that had passed when the invoice was finalized', () => {
    const reminders = remindersOf(at(0), [3, 7, 14], at(3))
    expect(reminders).toEqual([at(7).toISOString(), at(14).toISOString()])
    expect(nextReminder(reminders, at(7))).toEqual(at(14))
    expect(nextReminder(reminders, at(14))).toBeNull()
    expect([at(6), at(7), at(20)].map(now => dueReminder(reminders, now))).toEqual([0, 1, 2])
  })
})
