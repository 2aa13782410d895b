import { describe, expect, it } from 'vitest'
import { recordMailOutcome } from '../../../../subgraphs/payments/engines/invoicing/mail/send.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { dies } from '../../../kit/dies.ts'
import { seedDomain, seedIdentity } from '../../providers/email/seed.ts'
import { type Office, openOffice } from './stage.ts'

const dayMs = 86_400_000

/** An office whose mails leave from the platform's sender, as far as providers take them. */
async function openMailing(): Promise<Office> {
  const office = await openOffice()
  const { graph } = office.shop
  await seedIdentity(graph, await seedDomain(graph, { organizationId: null, domain: 'platform.test' }), { localPart: 'no-reply', isDefault: true })
  return office
}

const mailsOf = async ({ shop }: Office, id: string) =>
  (await shop.graph.execute(`{ invoice(id: "${id}") { mails { kind status } } }`, {}, { as: shop.owner })).data().invoice.mails
/** What providers have taken, oldest first. */
const taken = ({ shop }: Office) =>
  shop.graph.rows<{ subject: string; name: string }>(
    `select m.subject, a.name from providers.email_messages m left join providers.email_attachments a on a.message_id = m.id order by m.id`,
  )

describe('finalizeInvoice', () => {
  it('mails the customer once with the document, and a receipt once it is paid', async () => {
    await using office = await openMailing()
    const { id, number, orderId } = await office.finalized()
    expect(await mailsOf(office, id)).toEqual([{ kind: 'INVOICE', status: 'QUEUED' }])
    await office.shop.pass(2_000)
    await expect.poll(() => taken(office)).toEqual([{ subject: expect.stringContaining(`Invoice ${number} from `), name: `${number}.pdf` }])
    await office.shop.pay(orderId)
    await office.shop.pass(2_000)
    await expect.poll(async () => (await taken(office)).map(({ subject }) => subject.split(' ')[0])).toEqual(['Invoice', 'Receipt'])
    expect((await mailsOf(office, id)).map(({ kind }: { kind: string }) => kind)).toEqual(['INVOICE', 'RECEIPT'])
    await office.shop.pass(5_000)
    expect(await taken(office)).toHaveLength(2)
  })

  it('sends nothing with send: false until resendInvoice, which is allowed five times an hour', async () => {
    await using office = await openMailing()
    const { id } = await office.change('finalizeInvoice', { id: (await office.draft()).id, send: false })
    expect(await mailsOf(office, id)).toEqual([])
    for (let time = 0; time < 5; time += 1) await office.change('resendInvoice', { id })
    expect((await office.ask('resendInvoice', { id })).refused('RATE_LIMITED').extensions.retryAfter).toBe(3600)
    await office.shop.graph.clock.advance(3_600_001)
    await office.change('resendInvoice', { id })
    expect(await mailsOf(office, id)).toHaveLength(6)
    await office.change('voidInvoice', { id })
    expect((await office.ask('resendInvoice', { id })).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
    const draft = await office.draft()
    expect((await office.ask('resendInvoice', { id: draft.id })).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
  })

  it('sends nothing to a customer without an address', async () => {
    await using office = await openMailing()
    await office.shop.graph.rows('update payments.customers set email = null')
    const { id } = await office.finalized()
    await office.shop.pass(2_000)
    await expect.poll(() => mailsOf(office, id)).toEqual([])
    expect((await office.ask('resendInvoice', { id })).refused('CONFLICT').extensions.reason).toBe('NO_ADDRESS')
    expect(await taken(office)).toEqual([])
  })
})

describe('a mail of an invoice', () => {
  it('goes once when the process dies after providers took it', async () => {
    await using office = await openMailing()
    const { id } = await office.finalized()
    await dies('invoice-mail-sent', async () => {
      await office.shop.pass(2_000)
      await expect.poll(() => taken(office)).toHaveLength(1)
    })
    await office.shop.pass(70_000)
    await expect
      .poll(() => office.shop.graph.rows('select status, message_id is not null as known from payments.invoice_mails'))
      .toEqual([{ status: expect.any(String), known: true }])
    expect(await taken(office)).toHaveLength(1)
    expect(await mailsOf(office, id)).toHaveLength(1)
  })

  it('has the status that providers tell of it', async () => {
    await using office = await openMailing()
    const { id } = await office.finalized()
    const job = office.shop.graph.platform.payments.job('test')
    const messageId = '00000000-0000-7000-8000-00000000abcd'
    await office.shop.graph.rows('update payments.invoice_mails set message_id = $1', [messageId])
    for (const [said, status] of [
      ['SENDING', 'QUEUED'],
      ['SENT', 'SENT'],
      ['BOUNCED', 'FAILED'],
    ] as const) {
      await inTransaction(job, unit => recordMailOutcome(job, messageId, said, unit))
      expect(await mailsOf(office, id)).toEqual([{ kind: 'INVOICE', status }])
    }
  })
})

describe('a reminder', () => {
  it('goes at its time: none for one that had passed, and none once the invoice is paid', async () => {
    await using office = await openMailing()
    const { shop } = office
    await shop.change('updatePaymentSettings', { reminderDays: [2, 3] }, shop.owner, 'reminderDays')
    const dueAt = shop.graph.clock.in(6_000 - 3 * dayMs).toISOString()
    const [open, paid] = [await office.finalized({ dueAt }), await office.finalized({ dueAt })]
    await shop.pay(paid.orderId)
    await shop.pass(4_000)
    expect((await mailsOf(office, open.id)).map(({ kind }: { kind: string }) => kind)).toEqual(['INVOICE'])
    await shop.pass(6_000)
    await expect.poll(async () => (await mailsOf(office, open.id)).map(({ kind }: { kind: string }) => kind)).toEqual(['INVOICE', 'REMINDER'])
    expect((await mailsOf(office, paid.id)).map(({ kind }: { kind: string }) => kind)).toEqual(['INVOICE', 'RECEIPT'])
    const reminded = async () => {
      await shop.pass(1_000)
      return (await taken(office)).filter(({ subject }) => subject.startsWith('Reminder')).length
    }
    await expect.poll(reminded).toBe(1)
    await shop.pass(5_000)
    expect(await reminded()).toBe(1)
  })
})
