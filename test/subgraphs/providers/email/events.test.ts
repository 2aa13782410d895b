import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { EmailStatus } from '../../../../subgraphs/providers/stores/email/message.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedDomain, seedMessage } from './seed.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

async function world(status: EmailStatus = 'SENT', appId = 'app_launcher') {
  const graph = await supergraph({ email: { eventsSecret: secret } })
  const { owner } = await graph.seed.owner()
  const domain = await seedDomain(graph, { organizationId: null })
  const mail = await seedMessage(graph, domain, owner.organizationId!, status)
  await graph.rows('update providers.email_messages set app_id = $1', [appId])
  const event = (type: string, more: object = {}) => ({
    type,
    messageId: mail.messageId,
    recipient: 'Ada@example.com',
    at: graph.clock.now().toISOString(),
    ...more,
  })
  const report = async (body: object | string, { id = newId(), at = graph.clock.now(), by = secret, headers = {} } = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const signed = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(by).sign(id, new Date(Math.floor(at.getTime() / 1000) * 1000), text),
      ...headers,
    }
    const request = new Request('http://localhost:4000/providers/api/email/events', { method: 'POST', body: text, headers: signed })
    return (await graph.platform.providers.http!(request, anonymous)).status
  }
  return {
    graph,
    mail,
    report,
    event,
    status: async () => (await graph.rows<{ status: string }>('select status from providers.email_messages'))[0]!.status,
    suppressed: () => graph.rows('select address, reason from providers.email_suppressions'),
    told: async () =>
      (
        await graph.rows<{ receiver: string; body: { status: string } }>(`select receiver, body from providers.facts where kind = 'email.outcome' order by seq`)
      ).map(({ receiver, body }) => `${receiver} ${body.status}`),
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

test('G-07 a report takes effect once, however often it is sent, and reaches the service whose app sent the mail', async () => {
  await using there = await world()
  const { report, event } = there
  expect(await report(event('delivered'), { id: 'd' })).toBe(204)
  expect(await there.status()).toBe('DELIVERED')
  expect(await Promise.all(Array.from({ length: 20 }, () => report(event('bounce'), { id: 'b' })))).toEqual(Array(20).fill(204))
  expect([await there.status(), await there.suppressed()]).toEqual(['BOUNCED', [{ address: 'ada@example.com', reason: 'bounce' }]])
  await there.graph.rows('delete from providers.email_suppressions')
  expect(await report(event('bounce'), { id: 'b' })).toBe(204)
  expect(await there.suppressed()).toEqual([])
  expect(await report(event('complaint'))).toBe(204)
  expect(await there.told()).toEqual(['launcher DELIVERED', 'launcher BOUNCED', 'launcher COMPLAINED'])
})

test('reports an event only to the mail’s sender, and nothing to an app without a service client', async () => {
  await using there = await world('SENT', 'app_support')
  expect(await there.report(there.event('delivered'))).toBe(204)
  expect([await there.status(), await there.told()]).toEqual(['DELIVERED', []])
})

const untouched = shared(() => world())

test.each([
  ['another secret', { by: `whsec_${Buffer.alloc(32, 8).toString('base64')}` }],
  ['no signature', { headers: { 'webhook-signature': '' } }],
  ['no id', { headers: { 'webhook-id': '' } }],
  ['another id', { headers: { 'webhook-id': 'msg_other' } }],
  ['another time', { headers: { 'webhook-timestamp': '1' } }],
] as const)('a report with %s is refused, and changes nothing', async (_, how) => {
  const there = untouched()
  expect(await there.report(there.event('complaint'), how)).toBe(401)
  expect([await there.status(), await there.suppressed()]).toEqual(['SENT', []])
})

test('a report is believed for five minutes, and no longer', async () => {
  await using there = await world()
  const at = (seconds: number) => ({ at: there.graph.clock.in(seconds * 1000) })
  for (const seconds of [-301, 301]) expect(await there.report(there.event('bounce'), at(seconds))).toBe(401)
  expect(await there.status()).toBe('SENT')
  for (const seconds of [-300, 300]) expect(await there.report(there.event('bounce'), at(seconds))).toBe(204)
})

test('one of several signatures must be valid, as while a secret is changed', async () => {
  await using there = await world()
  const body = JSON.stringify(there.event('delivered'))
  const own = new Webhook(secret).sign('two', new Date(Math.floor(there.graph.clock.now().getTime() / 1000) * 1000), body)
  expect(await there.report(body, { id: 'two', headers: { 'webhook-signature': `v1,${'A'.repeat(43)}= ${own}` } })).toBe(204)
  expect(await there.status()).toBe('DELIVERED')
})

test.each([
  ['nothing of JSON'],
  [{ type: 'opened' }],
  [{ messageId: 7 }],
  [{ recipient: 'nobody' }],
  [{ at: 'yesterday' }],
])('what is no report (%j) is 400 though it is signed', async more => {
  const there = untouched()
  expect(await there.report(typeof more === 'string' ? more : { ...there.event('bounce'), ...more })).toBe(400)
  expect(await there.status()).toBe('SENT')
})

test('a report about an unknown mail or recipient is accepted without effect', async () => {
  await using there = await world()
  expect(await there.report(there.event('complaint', { messageId: '<nobody@example.com>' }))).toBe(204)
  expect(await there.report(there.event('complaint', { recipient: 'eve@example.com' }))).toBe(204)
  expect([await there.status(), await there.suppressed()]).toEqual(['SENT', []])
})

test('a report settles a mail with unknown outcome, and not one that waits', async () => {
  await using unknown = await world('UNKNOWN')
  await unknown.report(unknown.event('delivered'))
  expect(await unknown.status()).toBe('DELIVERED')
  await using queued = await world('QUEUED')
  await queued.report(queued.event('delivered'))
  expect(await queued.status()).toBe('QUEUED')
})
