import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { failure } from '../../../../subgraphs/publishing/delivery/failure.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { deletePost } from '../documents.ts'

// What the rules never write, written by hand: each statement is refused by a constraint, whose name says what it guards.

let graph: Supergraph
/** Posts by what they are, each a state that the rules allow. */
const posts: Record<string, string> = {}
let connectionId: string

beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
  const story = graph.seed.owner().brand().connection({ externalAccountId: '7' })
  const { connection } = await story
  connectionId = connection.id
  const account = { connectionId, externalAccountId: '7' }
  const now = graph.clock.now()
  const scheduledAt = graph.clock.in(60_000)
  const claim = { claimId: newId(now), claimUntil: now }
  const rows = {
    draft: {},
    scheduled: { scheduledAt },
    waiting: { scheduledAt, row: { waitsUntil: now, waitingSince: now, waits: 1 } },
    claimed: { scheduledAt, row: { ...claim, deliveryPhase: 'CLAIMED' as const } },
    sending: { scheduledAt, row: { ...claim, ...account, deliveryPhase: 'SENDING' as const, attempts: 1 } },
    failed: { row: { status: 'FAILED' as const, ...failure('NETWORK_REFUSED', 'X', 'no', now), attempts: 1 } },
    unknown: { row: { status: 'FAILED' as const, ...failure('OUTCOME_UNKNOWN', 'X', '', now), ...account, deliveryPhase: 'UNKNOWN' as const, attempts: 1 } },
    published: { row: { status: 'PUBLISHED' as const, ...account, publishedAt: now, platformPostId: '1', attempts: 1 } },
    other: { row: { status: 'PUBLISHED' as const, ...account, publishedAt: now, platformPostId: '2', attempts: 1 } },
  }
  for (const [name, seed] of Object.entries(rows)) posts[name] = (await story.post(seed)).post.id
  for (const name of ['sending', 'unknown', 'published'] as const)
    await graph.rows(
      `insert into publishing.attempts (brand_id, id, post_id, number, connection_id, platform, external_account_id, copy, started_at, finished_at, outcome,
         platform_post_id, created_at, updated_at, created_by) values ($1, $2, $2, 1, $3, 'X', '7', 'x', $4, $5, $6, $7, $4, $4, 'delivery')`,
      [
        connection.brandId,
        posts[name],
        connectionId,
        now,
        name === 'sending' ? null : now,
        { sending: null, unknown: 'UNKNOWN', published: 'DELIVERED' }[name],
        name === 'published' ? '1' : null,
      ],
    )
})
afterAll(() => graph[Symbol.asyncDispose]())

const now = '2027-03-01T09:00:00Z'
const failed = `failure_code = 'X', failure_message = 'x', failed_at = '${now}'`

describe('the table rejects a post', () => {
  test.each([
    ['draft', `status = 'SENT'`],
    ['draft', `delivery_phase = 'DONE'`],
    ['draft', `approval = 'MAYBE'`],
    ['draft', `platform = 'Y'`],
    ['draft', 'position = 0'],
    ['draft', 'attempts = -1'],
    ['draft', 'waits = -1'],
    ['draft', 'version = 0'],
    ['draft', `brand_id = '${newId()}'`],
    ['draft', `connection_id = '${newId()}'`],
    ['draft', `scheduled_at = '${now}'`],
    ['draft', failed],
    ['draft', `platform_post_id = '3'`],
    ['draft', `published_at = '${now}'`],
    ['draft', `permalink = 'https://x.com/1'`],
    ['draft', `delivery_phase = 'CLAIMED', claim_id = id, claim_until = '${now}'`],
    ['draft', `waits_until = '${now}', waiting_since = '${now}', waits = 1`],
    ['scheduled', 'scheduled_at = null'],
    ['scheduled', `delivery_phase = 'CLAIMED'`],
    ['scheduled', `claim_until = '${now}'`],
    ['scheduled', 'claim_id = id'],
    ['scheduled', `delivery_phase = 'UNKNOWN', attempts = 1`],
    ['scheduled', `status = 'PUBLISHED'`],
    ['waiting', 'waits_until = null'],
    ['waiting', 'waiting_since = null'],
    ['waiting', 'waits = 0'],
    ['waiting', `status = 'FAILED', ${failed}`],
    ['claimed', 'claim_id = null'],
    ['claimed', `delivery_phase = 'SENDING', external_account_id = '7'`],
    ['sending', 'external_account_id = null'],
    ['sending', `status = 'DRAFT', scheduled_at = null`],
    ['sending', `status = 'FAILED', ${failed}`],
    ['failed', 'failure_code = null, failure_message = null, failed_at = null'],
    ['failed', 'failure_message = null'],
    ['failed', 'failed_at = null'],
    ['failed', `failure_code = 'OUTCOME_UNKNOWN'`],
    ['failed', `delivery_phase = 'UNKNOWN'`],
    ['unknown', `failure_code = 'NETWORK_REFUSED'`],
    ['unknown', 'attempts = 0'],
    ['published', 'platform_post_id = null'],
    ['published', 'published_at = null'],
    ['published', failed],
    ['published', `delivery_phase = 'UNKNOWN'`],
    ['other', `platform_post_id = '1'`],
  ])('%s with %s', async (which, change) => {
    const refused = graph.rows(`update publishing.posts set ${change} where id = $1`, [posts[which]])
    await expect(refused).rejects.toMatchObject({ parent: { code: expect.stringMatching(/^23(514|505|503)$/) } })
  })

  test('at a position of its thread that is taken', async () => {
    const second = graph.rows('update publishing.posts set thread_id = $2 where id = $1', [posts.scheduled, posts.draft])
    await expect(second).rejects.toMatchObject({ parent: { code: '23505' } })
  })
})

describe('the table refuses an attempt', () => {
  test.each([
    ['sending', `outcome = 'MAYBE', finished_at = '${now}'`],
    ['sending', `platform = 'Y'`],
    ['sending', 'number = 0'],
    ['sending', 'reconciled = -1'],
    ['sending', 'version = 0'],
    ['sending', `brand_id = '${newId()}'`],
    ['sending', `post_id = '${newId()}'`],
    ['sending', `connection_id = '${newId()}'`],
    ['sending', 'external_account_id = null'],
    ['sending', `finished_at = '${now}'`],
    ['sending', `outcome = 'REFUSED'`],
    ['sending', `platform_post_id = '9'`],
    ['sending', `reconcile_at = '${now}'`],
    ['sending', `refusal = 'RATE_LIMITED'`],
    ['unknown', `platform_post_id = '9'`],
    ['unknown', `outcome = 'NOT_SENT', refusal = 'RATE_LIMITED'`],
    ['unknown', `outcome = 'DELIVERED'`],
    ['published', 'platform_post_id = null'],
    ['published', `reconcile_at = '${now}'`],
  ])('%s with %s', async (which, change) => {
    const refused = graph.rows(`update publishing.attempts set ${change} where post_id = $1`, [posts[which]])
    await expect(refused).rejects.toMatchObject({ parent: { code: expect.stringMatching(/^23(514|502|503|505)$/) } })
  })

  test.each(['sending', 'unknown'])('beside the open one of a post that is %s', async which => {
    const copy = `insert into publishing.attempts (brand_id, id, post_id, number, platform, external_account_id, copy, started_at, created_at, updated_at, created_by)
      select brand_id, gen_random_uuid(), post_id, 2, platform, external_account_id, copy, started_at, created_at, updated_at, created_by
      from publishing.attempts where post_id = $1`
    await expect(graph.rows(copy, [posts[which]])).rejects.toMatchObject({ parent: { code: '23505' } })
  })
})

test('an attempt outlives its post, for the account remembers the text; and a post its connection', async () => {
  await using world = await supergraph({ sandbox: true })
  const { owner, post, connection } = await world.seed.owner().brand().connection().post()
  const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
  await inTransaction(world.job, ({ transaction }) =>
    world.job.attempts.begin({ ...account, post, copy: post.copy, inReplyTo: null }, { now: world.clock.now(), transaction }),
  )
  await world.rows('update publishing.posts set connection_id = $1', [connection.id])
  await world.rows('delete from publishing.connections')
  expect(await world.rows('select connection_id, brand_id from publishing.posts')).toEqual([{ connection_id: null, brand_id: post.brandId }])
  ;(await world.execute(deletePost, { input: { id: post.id } }, { as: owner })).data()
  expect(await world.rows('select post_id, connection_id, external_account_id from publishing.attempts')).toEqual([
    { post_id: null, connection_id: null, external_account_id: connection.externalAccountId },
  ])
})
