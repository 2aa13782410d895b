import { createHmac, hkdfSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { createFactDoor } from '../../router/apart/facts.ts'

const now = new Date('2026-03-01T12:00:00Z')
const secret = 'a secret that the subgraphs share'
const taken: string[] = []
const door = createFactDoor({
  slug: 'publishing',
  secret,
  clock: { now: () => now },
  receive: async ({ id }) => {
    taken.push(id)
    return 'received'
  },
})

/** A fact as its writer sends it. */
function sent({ to = 'publishing', by = secret, at = now } = {}) {
  const id = newId(now)
  const body = Buffer.from(JSON.stringify({ id, from: 'identity', kind: 'organization.created', subject: 'a', at: now, body: {} }))
  const seconds = String(at.getTime() / 1000)
  const key = Buffer.from(hkdfSync('sha256', by, '', `facts to ${to}`, 32))
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`
  return { id, body, headers: { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature } }
}

test('accepts a fact with a valid signature for this subgraph among others', async () => {
  const { id, headers, body } = sent()
  const beside = { ...headers, 'webhook-signature': `v1,another ${headers['webhook-signature']}` }
  expect([await door(headers, body), await door(beside, body)]).toEqual([{ refused: null }, { refused: null }])
  expect(taken).toEqual([id, id])
})

const right = sent()
test.each([
  ['signed for another subgraph', sent({ to: 'launcher' })],
  ['signed with another secret', sent({ by: 'another' })],
  ['signed six minutes ago', sent({ at: new Date(now.getTime() - 360_000) })],
  ['with another body', { ...right, body: Buffer.from(`${right.body} `) }],
  ['without a signature', { ...right, headers: { ...right.headers, 'webhook-signature': undefined } }],
  ['without a moment', { ...right, headers: { ...right.headers, 'webhook-timestamp': undefined } }],
  ['whose signature has letters of several bytes', { ...right, headers: { ...right.headers, 'webhook-signature': 'é'.repeat(47) } }],
])('one %s is refused', async (_how, { id, headers, body }) => {
  taken.length = 0
  await expect(door(headers, body)).rejects.toMatchObject({ extensions: { code: 'UNAUTHENTICATED' } })
  expect(taken).not.toContain(id)
})
