import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser/browser.ts'
import { askAt, signIn } from '../kit/client.ts'
import { batchOf } from '../subgraphs/payments/settlement/stage.ts'
import { isAsked, openWeb } from './visit.ts'

const submitBatch = 'mutation($input: SubmitSettlementBatchInput!) { submitSettlementBatch(input: $input) { id } }'
const createOrder = 'mutation($input: CreateOrderInput!) { createOrder(input: $input) { id number } }'
const payOrder = 'mutation($input: PayOrderInput!) { payOrder(input: $input) { status } }'

describe.runIf(isAsked && browserPath)('settlement and disputes in a browser', () => {
  it('names the line of a batch that was not paid out, and sends a callback again', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    await enter(`${web.payments}/settlement`)
    const batch = batchOf([1200, 3400, 5600], { externalBatchId: 'week-31' })
    batch.lines[1]!.payee = 'acct_nobody000000'
    const { organizationId, payments } = web.demo()
    const headers = { 'x-service-token': payments.settlementToken!, 'x-app-id': 'app_settlement', 'x-organization-id': organizationId }
    ;(await askAt(web.url, submitBatch, { input: batch }, headers)).data()
    await page.reload()
    await page.getByRole('link', { name: 'week-31' }).click()
    const panel = page.getByRole('region', { name: 'Batch', exact: true })
    await panel.getByText('Partly settled').waitFor()
    await panel.locator('li', { hasText: 'acct_nobody000000' }).getByText('Failed', { exact: true }).waitFor()
    expect(await panel.getByText('Paid out', { exact: true }).count()).toBeGreaterThanOrEqual(2)
    await panel.getByText('€68.00').first().waitFor()
    expect(await findings()).toEqual([])
    await panel.getByRole('button', { name: 'Send again: settlement_batch.partially_settled' }).click()
    await page.getByText('The callback is sent again').waitFor()
    await page.getByRole('link', { name: 'Settlement' }).click()
    await page.getByRole('button', { name: 'State' }).click()
    await page.getByRole('menuitem', { name: 'Settled', exact: true }).click()
    await page.getByRole('link', { name: 'demo-payout-1' }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: /week-31|demo-payout-2/ }).count()).toBe(0)
    expect(await violations()).toEqual([])
  })

  it('shows a dispute with what it means, and until when evidence is taken', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const owner = await signIn(web.url, 'owner@demo.test')
    const { createOrder: order } = await owner.query<{ createOrder: { id: string; number: string } }>(createOrder, {
      input: { currency: 'EUR', lines: [{ name: 'Lamp', unitAmountMinor: '4000' }] },
    })
    await owner.query(payOrder, { input: { orderId: order.id, paymentMethodToken: 'pm_card_createDispute' } })
    const { page, enter, findings, violations } = await web.visit()
    const opened = async () => (await owner.query<{ disputes: { nodes: unknown[] } }>('{ disputes { nodes { id } } }')).disputes.nodes.length
    // The demo has one as well.
    await expect.poll(opened, { timeout: 60_000 }).toBe(2)
    await enter(`${web.payments}/overview`)
    await page.locator('[data-waits=openDisputes]').getByText('2', { exact: true }).waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('link', { name: 'Disputes that are not decided' }).click()
    await page.getByRole('link', { name: '€40.00' }).click()
    const panel = page.getByRole('region', { name: 'Dispute', exact: true })
    await panel.getByText('Open', { exact: true }).waitFor()
    await panel.getByText('fraudulent').waitFor()
    await panel.getByText('Evidence until').waitFor()
    expect(await findings()).toEqual([])
    await panel.getByRole('link', { name: order.number }).click()
    const shown = page.getByRole('region', { name: 'Order', exact: true })
    const timeline = shown.locator('ol.timeline')
    await timeline.getByText('Created').waitFor()
    await timeline.getByRole('link', { name: 'Payment' }).waitFor()
    await timeline.getByRole('link', { name: 'Dispute' }).waitFor()
    expect(await findings()).toEqual([])
    const to = page.getByLabel('To', { exact: true })
    await to.fill('2020-01-31')
    await page.getByText('No order matches these filters.').waitFor()
    expect(new URL(page.url()).searchParams.get('to')).toBe('2020-01-31')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: new RegExp(`^${order.number}`) }).waitFor()
    expect(await to.inputValue()).toBe('')
    expect(await violations()).toEqual([])
  })

  it('gives the bank evidence with a file, once, and is told that the money is back', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const owner = await signIn(web.url, 'owner@demo.test')
    const { createOrder: order } = await owner.query<{ createOrder: { id: string } }>(createOrder, {
      input: { currency: 'EUR', lines: [{ name: 'Lamp', unitAmountMinor: '7700' }] },
    })
    await owner.query(payOrder, { input: { orderId: order.id, paymentMethodToken: 'pm_card_createDispute' } })
    const { page, enter, findings, violations } = await web.visit({ viewport: { width: 1280, height: 1200 } })
    const disputed = async () =>
      (await owner.query<{ disputes: { nodes: { id: string; order: { id: string } }[] } }>('{ disputes { nodes { id order { id } } } }')).disputes.nodes.find(
        each => each.order.id === order.id,
      )
    await expect.poll(disputed, { timeout: 60_000 }).toBeDefined()
    await enter(`${web.payments}/disputes/${(await disputed())!.id}`)
    const panel = page.getByRole('region', { name: 'Dispute', exact: true })
    const dialog = page.getByRole('dialog')
    await panel.getByRole('button', { name: 'Give evidence' }).click()
    await dialog.getByRole('button', { name: 'Send to the bank' }).click()
    await dialog.getByText('Write a text, or add a file.').waitFor()
    await dialog.getByLabel('What happened').fill('winning_evidence')
    const choose = (name: string, mimeType: string) =>
      dialog.locator('input[type=file]').setInputFiles({ name, mimeType, buffer: Buffer.from('%PDF-1.4\n%%EOF\n') })
    await choose('letter.txt', 'text/plain')
    await dialog.getByText('letter.txt is no PDF, PNG or JPEG of at most 5 MiB.').waitFor()
    await choose('delivery.pdf', 'application/pdf')
    await dialog.locator('[data-file="delivery.pdf"]').waitFor()
    expect(await findings()).toEqual([])
    await dialog.getByRole('button', { name: 'Send to the bank' }).click()
    await page.getByText('The bank has your evidence').waitFor()
    await panel.getByText('delivery.pdf').waitFor()
    await panel.getByText('winning_evidence').waitFor()
    expect(await panel.getByRole('button', { name: 'Give evidence' }).count()).toBe(0)
    await panel.getByText('Won', { exact: true }).waitFor({ timeout: 60_000 })
    expect(await findings()).toEqual([])
    expect(await violations()).toEqual([])
  }, 180_000)

  it('accepts a dispute, and says what that costs first', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const owner = await signIn(web.url, 'owner@demo.test')
    const { createOrder: order } = await owner.query<{ createOrder: { id: string } }>(createOrder, {
      input: { currency: 'EUR', lines: [{ name: 'Lamp', unitAmountMinor: '5500' }] },
    })
    await owner.query(payOrder, { input: { orderId: order.id, paymentMethodToken: 'pm_card_createDispute' } })
    const { page, enter, findings } = await web.visit()
    await enter(`${web.payments}/disputes`)
    const row = page.getByRole('link', { name: '€55.00' })
    await expect
      .poll(
        async () => {
          if ((await row.count()) === 0) await enter(`${web.payments}/disputes`)
          return row.count()
        },
        { timeout: 60_000 },
      )
      .toBe(1)
    await row.click()
    const panel = page.getByRole('region', { name: 'Dispute', exact: true })
    await panel.getByRole('button', { name: 'Accept dispute' }).click()
    await page
      .getByRole('alertdialog')
      .getByText(/The payer keeps €55.00 of order/)
      .waitFor()
    expect(await findings()).toEqual([])
    await page.getByRole('alertdialog').getByRole('button', { name: 'Accept dispute' }).click()
    const status = async () =>
      (
        await owner.query<{ disputes: { nodes: { status: string; order: { id: string } }[] } }>('{ disputes { nodes { status order { id } } } }')
      ).disputes.nodes.find(each => each.order.id === order.id)?.status
    await expect.poll(status, { timeout: 60_000 }).toBe('LOST')
  }, 180_000)
})
