import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { dies } from '../../../kit/dies.ts'
import { eventsOf } from '../events/stage.ts'
import { openShop } from '../payment/stage.ts'

const fields = 'id status closedAt evidence { text files { id name contentType bytes } submittedBy { id } submittedAt }'
const pdf = `%PDF-1.4\n${'x'.repeat(500)}`

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each test asks for
type Any = any

/** A shop with a dispute that is open. */
async function open() {
  const shop = await openShop()
  const events = eventsOf(shop.graph)
  const order = await shop.pay((await shop.order()).id, { paymentMethodToken: 'pm_card_createDispute' })
  const find = async (type: string) => (await events.made()).find(each => each.type === type)
  await events.take((await find('charge.dispute.created'))!)
  const [{ id, processor_id: processorId }] = (await shop.graph.rows('select id, processor_id from payments.disputes')) as [Any]
  return Object.assign(shop, {
    ...{ events, disputed: order, id, processorId, find },
    submit: (evidence: object, more: object = {}) => shop.ask('submitDisputeEvidence', { id, evidence, ...more }, shop.owner, fields),
    accept: (more: object = {}) => shop.ask('acceptDispute', { id, ...more }, shop.owner, fields),
    seen: async () => (await shop.graph.execute(`query($id: ID!) { dispute(id: $id) { ${fields} } }`, { id }, { as: shop.owner })).data().dispute,
    atProcessor: () => events.at(`/disputes/${processorId}`),
    /** Keeps a file; what refuses it is answered as it is thrown. */
    async file(body: string, type = 'application/pdf', name = 'receipt.pdf', more: Readonly<Record<string, string>> = {}): Promise<Any> {
      const url = `http://payments/payments/api/disputes/${id}/files?name=${encodeURIComponent(name)}`
      const request = new Request(url, { method: 'POST', body, headers: { 'content-type': type, ...more } })
      try {
        const answer = await shop.graph.platform.payments.http!(request, shop.owner)
        return { status: answer.status, json: await answer.json(), isReplay: answer.headers.get('idempotent-replayed') === 'true' }
      } catch (error) {
        return { refused: (error as { extensions: object }).extensions }
      }
    },
    /** What is read again and again while ten seconds at a time pass, until it is as expected. */
    later: <Read>(read: () => Promise<Read>) =>
      expect.poll(
        async () => {
          await shop.pass(10_000)
          return read()
        },
        { timeout: 10_000 },
      ),
    books: async () => Promise.all(['processor', 'disputes', 'merchant'].map(account => shop.booked(order.id, account))),
  })
}

describe('submitDisputeEvidence', () => {
  it('sends a text and files to the bank once, and holds the money until the bank decides', async () => {
    await using shop = await open()
    const { status, json: file } = await shop.file(pdf)
    expect([status, file]).toEqual([201, { id: expect.any(String), name: 'receipt.pdf', contentType: 'application/pdf', bytes: 509 }])
    const sent = (await shop.submit({ text: 'The seat was used.', files: [file.id] })).data().submitDisputeEvidence
    expect(sent).toMatchObject({ status: 'UNDER_REVIEW', evidence: { text: 'The seat was used.', files: [file], submittedBy: { id: shop.owner.userId } } })
    const there = await shop.atProcessor()
    expect(there).toMatchObject({
      status: 'under_review',
      evidence: { uncategorized_text: 'The seat was used.', uncategorized_file: expect.stringMatching('^file_') },
      evidence_details: { submission_count: 1 },
    })
    for (const answer of [await shop.submit({ text: 'more' }), await shop.accept()]) expect(answer.refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
    expect((await shop.ask('refundOrder', { orderId: shop.disputed.id, reason: 'OTHER' }, shop.owner, 'id')).refused('CONFLICT').extensions.reason).toBe(
      'DISPUTED',
    )
    expect(await shop.books()).toEqual([0, 1000, -1000])
  })

  it('keeps what was given once the bank has decided', async () => {
    await using shop = await open()
    await shop.submit({ text: 'winning_evidence' })
    await shop.graph.clock.run(3_000)
    await expect.poll(() => shop.find('charge.dispute.closed')).toBeTruthy()
    await shop.events.take((await shop.find('charge.dispute.closed'))!)
    expect(await shop.seen()).toMatchObject({ status: 'WON', evidence: { text: 'winning_evidence', files: [] } })
    expect(await shop.books()).toEqual([1000, 0, -1000])
  })

  it('is sent once for a key', async () => {
    await using shop = await open()
    const once = { idempotencyKey: newId() }
    const answers = await Promise.all(Array.from({ length: 5 }, () => shop.submit({ text: 'one' }, once)))
    expect(answers.map(answer => answer.data().submitDisputeEvidence.status)).toEqual(Array(5).fill('UNDER_REVIEW'))
    expect((await shop.atProcessor()).evidence_details.submission_count).toBe(1)
  })

  it('is refused without text and files, with too long a text, a file twice, one that is none of it, and too late', async () => {
    await using shop = await open()
    const { json: file } = await shop.file(pdf)
    const wrong = [{ files: [] }, { text: 'x'.repeat(20_001) }, { files: [file.id, file.id] }, { files: Array.from({ length: 6 }, () => newId()) }]
    for (const evidence of wrong) expect((await shop.submit(evidence)).refused('BAD_USER_INPUT').extensions.field).toMatch(/^evidence/)
    ;(await shop.submit({ files: [newId()] })).refused('NOT_FOUND')
    await shop.graph.rows(`update payments.disputes set evidence_due_by = $1 where id = $2`, [new Date(shop.graph.clock.now().getTime() - 1_000), shop.id])
    expect((await shop.submit({ text: 'late' })).refused('CONFLICT').extensions.reason).toBe('EVIDENCE_LATE')
    expect(await shop.seen()).toMatchObject({ status: 'OPEN', evidence: null })
  })

  it('leaves the dispute as it was when nothing reaches the processor', async () => {
    await using shop = await open()
    const away = await shop.graph.x.away()
    expect((await shop.submit({ text: 'one' })).refused('UPSTREAM_FAILED').extensions.reason).toBe('NOT_SENT')
    await away[Symbol.asyncDispose]()
    expect(await shop.seen()).toMatchObject({ status: 'OPEN', evidence: null })
    expect((await shop.submit({ text: 'one' })).data().submitDisputeEvidence.status).toBe('UNDER_REVIEW')
  })

  it('reaches the processor once when its answer is lost', async () => {
    await using shop = await open()
    await shop.arm('status-after-accept', { status: 503 })
    expect((await shop.submit({ text: 'one' })).data().submitDisputeEvidence).toMatchObject({ status: 'UNDER_REVIEW', evidence: { text: 'one' } })
    const asks = async () => (await shop.graph.rows<{ asks: string | null }>('select asks from payments.disputes'))[0]!.asks
    expect(await asks()).toBe('SUBMIT')
    await shop.later(asks).toBe(null)
    expect((await shop.atProcessor()).evidence_details.submission_count).toBe(1)
  })

  it.each(['dispute-ask-recorded', 'dispute-answered', 'dispute-recorded'])('of a process that died at %s reaches the bank once', async point => {
    await using shop = await open()
    await dies(point, () => shop.submit({ text: 'one' }))
    const asks = async () => (await shop.graph.rows<{ asks: string | null }>('select asks from payments.disputes'))[0]!.asks
    expect(await asks()).toBe('SUBMIT')
    await shop.graph.clock.advance(36_000)
    await shop.later(asks).toBe(null)
    expect(await shop.seen()).toMatchObject({ status: 'UNDER_REVIEW', evidence: { text: 'one' } })
    expect((await shop.atProcessor()).evidence_details.submission_count).toBe(1)
  })

  it('is refused when the bank has decided already, and takes back what was recorded', async () => {
    await using shop = await open()
    await shop.events.act(`/disputes/${shop.processorId}/close`)
    expect((await shop.submit({ text: 'one' })).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
    expect(await shop.seen()).toMatchObject({ status: 'OPEN', evidence: null })
  })
})

describe('acceptDispute', () => {
  it('loses the dispute when the processor says so, once however it says it', async () => {
    await using shop = await open()
    expect((await shop.accept()).data().acceptDispute).toMatchObject({ status: 'LOST', closedAt: expect.any(String) })
    expect(await shop.books()).toEqual([0, 0, 0])
    await shop.events.take((await shop.find('charge.dispute.closed'))!)
    expect(await shop.books()).toEqual([0, 0, 0])
    expect((await shop.accept()).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
  })

  it('is repeated under its key when the answer is lost', async () => {
    await using shop = await open()
    await shop.arm('status-after-accept', { status: 503 })
    expect((await shop.accept()).data().acceptDispute.status).toBe('OPEN')
    expect((await shop.submit({ text: 'but' })).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
    await shop.later(shop.seen).toMatchObject({ status: 'LOST' })
  })
})

describe('a file of a dispute', () => {
  it('is kept once for a key', async () => {
    await using shop = await open()
    const once = { 'idempotency-key': newId() }
    const [first, again] = [await shop.file(pdf, 'application/pdf', 'a.pdf', once), await shop.file(pdf, 'application/pdf', 'a.pdf', once)]
    expect(again.json).toEqual(first.json)
    expect([first.isReplay, again.isReplay]).toEqual([false, true])
    expect((await shop.file(pdf, 'application/pdf', 'b.pdf', once)).refused).toMatchObject({ reason: 'KEY_REUSED' })
    expect((await shop.events.at('/files')).data).toHaveLength(1)
  })

  it.each([
    ['text/html', 'a.html', '<p>'],
    ['application/pdf', '', pdf],
    ['application/pdf', '../a.pdf', pdf],
    ['application/pdf', 'a.pdf', ''],
  ])('of type %s and name %j is refused', async (type, name, body) => {
    await using shop = await open()
    const answer = await shop.file(body, type, name)
    expect(answer.refused ?? answer.json).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  it('of five MiB is taken, and a byte more is not', async () => {
    await using shop = await open()
    const whole = randomBytes(5 * 1024 * 1024)
      .toString('latin1')
      .replace(/[^\x20-\x7e]/g, 'x')
    const exact = await shop.file(whole, 'image/png', 'a.png')
    expect(exact.json ?? exact.refused).toMatchObject({ bytes: 5 * 1024 * 1024 })
    const more = await shop.file(`${whole}x`, 'image/png', 'a.png')
    expect(more.refused ?? more.json).toMatchObject({ field: 'body' })
  })
})
