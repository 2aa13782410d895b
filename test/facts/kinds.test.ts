import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { outboxOf } from '../../platform/jobs/facts/outbox.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { writeFacts, writing } from '../../subgraphs/store/books.ts'
import { factKinds, kindOf } from '../../subgraphs/store/fact-kinds.ts'
import { writeNewFacts } from '../../subgraphs/store/new-facts.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { supergraph } from '../kit/supergraph.ts'

test('exactly the declared receivers of a kind of facts have a handler for it', async () => {
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

/** Kinds that a subgraph does not write yet, by its slug. */
const notYet: Readonly<Record<string, readonly string[]>> = {
  // Its own items need no fact.
  launcher: ['attention.opened', 'attention.closed'],
}

test('every declared writer of a kind of facts writes it somewhere', async () => {
  for (const kind of Object.keys(factKinds)) {
    for (const slug of kindOf(kind)!.from.filter(from => (listedSlugs as readonly string[]).includes(from))) {
      const files = await Array.fromAsync(glob(`subgraphs/${slug}/**/*.ts`, { cwd: join(import.meta.dirname, '../..') }))
      const texts = await Promise.all(
        files.filter(file => !file.endsWith('received.ts')).map(file => readFile(join(import.meta.dirname, '../..', file), 'utf8')),
      )
      const isNotYet = notYet[slug]?.includes(kind) ?? false
      expect(
        texts.some(text => text.includes(`kind: '${kind}'`) || text.includes(`facts: row => factOf('${kind}'`)),
        isNotYet ? `${slug} tells ${kind} by now: take it from the list` : `${slug} never tells ${kind}, and subgraphs/store/fact-kinds.ts says that it does`,
      ).toBe(!isNotYet)
    }
  }
})

test('a subgraph that is not a writer of a kind cannot publish it: its transaction is rolled back', async () => {
  await using graph = await supergraph()
  const job = graph.platform.agents.job('test')
  const body = { organizationId: newId(), slug: 'a', name: 'A' }
  const writing = inTransaction(job, unit => writeFacts(job, [{ kind: 'organization.created', body }], unit))
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
  profileId: 'one',
  taskId: 'one',
  runId: 'one',
  app: 'one',
  ownerType: 'one',
  ownerId: 'one',
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
  ['order.refunded', ['orderId']],
  ['app.installed', ['app', 'organizationId']],
  ['subscription.changed', ['ownerType', 'ownerId']],
  ['profile.erased', ['profileId']],
  ['task.created', ['taskId']],
  ['run.failed', ['runId']],
])('facts %s wait for each other when they have the same %j, and for no other', (kind, fields) => {
  const { subject } = kindOf(kind)!
  for (const field of Object.keys(bodies) as (keyof typeof bodies)[])
    expect(subject({ ...bodies, [field]: 'another' }) === subject(bodies), field).toBe(!fields.includes(field))
})

test.each([
  ['attention.opened', 'attention.closed'],
  ['post.published', 'post.failed'],
  ['order.paid', 'order.refunded'],
  ['app.installed', 'app.uninstalled'],
  ['profile.erased', 'profile.withdrawn'],
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

const organizationId = '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e'
const item = {
  key: 'k',
  kind: 'DISPUTE',
  organizationId,
  subjectId: 'dp_1',
  title: 'A dispute',
  url: 'https://platform.test/disputes/1',
  at: '2027-03-01T09:00:00.000Z',
  audience: 'organization',
}

test.each(listedSlugs)('%s may open and close attention for people', slug => {
  expect(kindOf('attention.opened')!.from).toContain(slug)
  expect(kindOf('attention.closed')!.from).toContain(slug)
})

test.each([
  ['the fields that every item has', {}, true],
  ['each optional field', { severity: 'CRITICAL', dueAt: '2027-03-02T09:00:00.000Z', body: 'Answer it.', userId: organizationId }, true],
  ['an item of one person and no organization', { audience: 'person', organizationId: null, userId: organizationId }, true],
  ['an item of a person that names none', { audience: 'person' }, false],
  ['an item for managers of no organization', { audience: 'managers', organizationId: null }, false],
  ['a severity that is none', { severity: 'URGENT' }, false],
  ['a dueAt that is no moment', { dueAt: 'tomorrow' }, false],
])('attention.opened with %s', (_, fields, may) => {
  expect(kindOf('attention.opened')!.body.safeParse({ ...item, ...fields }).success).toBe(may)
})

const refund = { organizationId, orderId: organizationId, merchantId: organizationId, amountMinor: 1_250, currency: 'EUR', at: '2027-03-01T09:00:00.000Z' }
const subscription = { ownerType: 'USER', ownerId: organizationId, package: 'TEN', status: 'ACTIVE', seats: 3 }

test.each<readonly [string, string, object, boolean]>([
  ['order.refunded', 'an amount in minor units', refund, true],
  ['order.refunded', 'a fraction', { ...refund, amountMinor: 12.5 }, false],
  ['order.refunded', 'nothing', { ...refund, amountMinor: 0 }, false],
  ['order.refunded', 'a currency in small letters', { ...refund, currency: 'eur' }, false],
  ['app.installed', 'a person in personal context', { app: 'publishing', organizationId: null, userId: organizationId }, true],
  ['app.installed', 'nobody', { app: 'publishing', organizationId }, false],
  ['subscription.changed', 'a package of the contract', subscription, true],
  ['subscription.changed', 'a package that is none', { ...subscription, package: 'FOUR' }, false],
  ['subscription.changed', 'seats below none', { ...subscription, seats: -1 }, false],
  ['run.failed', 'a code', { organizationId, runId: organizationId, code: 'TOOL_ERROR' }, true],
  ['run.failed', 'a sentence for a code', { organizationId, runId: organizationId, code: 'It failed.' }, false],
])('%s with %s', (kind, _, body, may) => {
  expect(kindOf(kind)!.body.safeParse(body).success).toBe(may)
})

test('delivers an installation only to the installed application, and to none for unknown applications', async () => {
  await using graph = await supergraph()
  const job = graph.platform.agents.job('test')
  const { facts, sequelize } = job[writing]
  const told = async (app: string) => {
    const slug = 'launcher' as const
    const body = { app, organizationId, userId: organizationId }
    await inTransaction(job, ({ now, transaction }) =>
      writeNewFacts({ sequelize, facts: { ...facts, slug, outbox: outboxOf(slug) } }, [{ kind: 'app.installed', body }], now, transaction),
    )
    return (await graph.rows<{ receiver: string }>(`select receiver from launcher.facts where body ->> 'app' = '${app}'`)).map(({ receiver }) => receiver)
  }
  expect(await told('payments')).toEqual(['payments'])
  expect(await told('route-finder')).toEqual([])
})
