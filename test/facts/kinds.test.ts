import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { tell } from '../../subgraphs/store/books.ts'
import { factKinds, kindOf } from '../../subgraphs/store/fact-kinds.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { supergraph } from '../kit/supergraph.ts'

test('whoever is to receive a kind of facts has a handler for it, and nobody else has', async () => {
  await using graph = await supergraph()
  const isHandled = async (slug: string, kind: string) => {
    const subgraph = graph.platform.subgraphs.find(({ registration }) => registration.slug === slug)
    const [from] = kindOf(kind)!.from
    const receipt = await subgraph?.receive?.({ id: '', from: from!, kind, subject: '', at: graph.clock.now(), body: 'none of a kind' })
    return receipt !== undefined && receipt !== 'received' && /^its body is not that of/.test(receipt.refused)
  }
  for (const kind of Object.keys(factKinds)) {
    const handled = []
    for (const slug of listedSlugs) if (await isHandled(slug, kind)) handled.push(slug)
    expect(handled.sort(), kind).toEqual(listedSlugs.filter(slug => kindOf(kind)!.to.includes(slug)).sort())
  }
})

/** Kinds that nobody writes yet, each with the reason. */
const notYet: Readonly<Record<string, string>> = { 'order.paid': 'payments takes no payment yet' }

test('whoever is to write a kind of facts does so somewhere', async () => {
  for (const kind of Object.keys(factKinds)) {
    for (const slug of kindOf(kind)!.from.filter(from => (listedSlugs as readonly string[]).includes(from))) {
      const files = await Array.fromAsync(glob(`subgraphs/${slug}/**/*.ts`, { cwd: join(import.meta.dirname, '../..') }))
      const texts = await Promise.all(
        files.filter(file => !file.endsWith('received.ts')).map(file => readFile(join(import.meta.dirname, '../..', file), 'utf8')),
      )
      expect(
        texts.some(text => text.includes(`kind: '${kind}'`)),
        kind in notYet
          ? `${slug} tells ${kind} by now: take it from the list`
          : `${slug} never tells ${kind}, and subgraphs/store/fact-kinds.ts says that it does`,
      ).toBe(!(kind in notYet))
    }
  }
})

test('who is not to write a kind of facts cannot: its transaction is undone', async () => {
  await using graph = await supergraph()
  const job = graph.platform.agents.job('test')
  const body = { organizationId: newId(), slug: 'a', name: 'A' }
  const writing = inTransaction(job, unit => tell(job, [{ kind: 'organization.created', body }], unit))
  await expect(writing).rejects.toThrow('does not say that agents tells organization.created')
  expect(await graph.rows('select from agents.facts')).toEqual([])
})

const bodies = {
  organizationId: 'one',
  userId: 'one',
  membershipId: 'one',
  key: 'one',
  postId: 'one',
  brandId: 'one',
  threadId: 'one',
  orderId: 'one',
  merchantId: 'one',
  subjectId: 'one',
  serviceId: 'one',
}

test.each<readonly [string, readonly (keyof typeof bodies)[]]>([
  ['organization.created', ['organizationId']],
  ['membership.removed', ['organizationId', 'userId']],
  ['service.registered', ['serviceId']],
  ['attention.opened', ['key']],
  ['attention.closed', ['key']],
  ['post.published', ['postId']],
  ['post.failed', ['postId']],
  ['order.paid', ['orderId']],
])('facts %s wait for each other when they have the same %j, and for no other', (kind, fields) => {
  const { subject } = kindOf(kind)!
  for (const field of Object.keys(bodies) as (keyof typeof bodies)[])
    expect(subject({ ...bodies, [field]: 'another' }) === subject(bodies), field).toBe(!fields.includes(field))
})

test.each([
  ['attention.opened', 'attention.closed'],
  ['post.published', 'post.failed'],
])('%s and %s of the same thing wait for each other', (one, other) => {
  expect(kindOf(one)!.subject(bodies)).toBe(kindOf(other)!.subject(bodies))
})

test.each([
  ['https://platform.test/posts/1', true],
  ['http://localhost:4000/posts/1', true],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['/posts/1', false],
])('what waits for a person lies where a browser may go by HTTP: %s, %s', (url, may) => {
  const id = '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e'
  const body = {
    key: 'k',
    kind: 'POST_FAILED',
    organizationId: id,
    subjectId: id,
    title: 'A post',
    url,
    at: '2027-03-01T09:00:00.000Z',
    audience: 'organization',
  }
  expect(kindOf('attention.opened')!.body.safeParse(body).success).toBe(may)
})
