import { describe, expect, test } from 'vitest'
import { answerableMs } from '../../../../../subgraphs/publishing/delivery/rules.ts'
import { sendMs } from '../../../../../subgraphs/publishing/stores/pace.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { deletePost, reschedulePost, resolveDelivery } from '../../documents.ts'
import { answeredPost, round, stored, texts, until, wake } from '../delivering.ts'
import { publication } from '../publication.ts'

const copy = 'The same words'

/** Two brands of different organizations that publish as the same account of X, each with a post that says the same. */
const twoBrands = async () => {
  const graph = await supergraph({ sandbox: true })
  const scheduledAt = graph.clock.in(60_000)
  const one = await graph.seed.owner().brand('One').connection().post({ copy, scheduledAt })
  const other = await graph.seed.owner().brand('Other').connection().post({ copy, scheduledAt })
  await graph.clock.advance(60_000)
  return { graph, one, other }
}

/** A post whose one call was answered as if it had failed, though the account has it. */
const publishedAndRefused = (status: number) => answeredPost({ fault: 'status-after-accept', status }, { copy })

/** Lets the time pass in which unknown outcomes are asked about. */
const asked = async (graph: Supergraph, seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 5) {
    await graph.clock.advance(5_000)
    await round(graph)
  }
}

describe('P-10 a call that was received although its answer said otherwise', () => {
  test.each([500, 502, 503, 504, 408])('answered with %i leaves the outcome open, is found, and is not sent again', async status => {
    const { graph, post } = await publishedAndRefused(status)
    await using _ = graph
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN', failureCode: 'OUTCOME_UNKNOWN' })
    await asked(graph, 5)
    expect([await texts(graph), await stored(graph, post)]).toMatchObject([[copy], { status: 'PUBLISHED', failureCode: null }])
  })

  test.each([400, 403, 429])('answered with %i and repeated: X is asked about the duplicate, and this post is found', async status => {
    const { graph, owner, post } = await publishedAndRefused(status)
    await using _ = graph
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE' })
    await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(1000) } }, { as: owner })
    await graph.clock.advance(1000)
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'UNKNOWN' })
    await asked(graph, 5)
    const [received] = await graph.x.published()
    expect([await texts(graph), await stored(graph, post)]).toMatchObject([[copy], { status: 'PUBLISHED', platformPostId: received!.id }])
  })

  test('and deleted here, then written again: X is asked about the duplicate too, regardless of letter case and white space', async () => {
    const { graph, story, owner, post } = await publishedAndRefused(403)
    await using _ = graph
    await graph.execute(deletePost, { input: { id: post.id } }, { as: owner })
    const { post: again } = await story.post({ copy: `${copy} `, scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, again)
    expect(await stored(graph, again)).toMatchObject({ deliveryPhase: 'UNKNOWN' })
    await asked(graph, 5)
    expect([await texts(graph), (await stored(graph, again)).status]).toEqual([[copy], 'PUBLISHED'])
  })

  test('of a post that counted as not published: a later duplicate shows that it was', async () => {
    const { graph, owner, post } = await publishedAndRefused(500)
    await using _ = graph
    await graph.execute(resolveDelivery, { input: { id: post.id, platformPostId: null } }, { as: owner })
    expect(await stored(graph, post)).toMatchObject({ failureCode: 'NOT_DELIVERED' })
    await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(1000) } }, { as: owner })
    await graph.clock.advance(1000)
    await wake(graph, post)
    await asked(graph, 5)
    expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[copy], 'PUBLISHED'])
  })
})

describe('P-10 a duplicate of no open attempt', () => {
  test('of a text that the account itself published: the text must be changed, reported at once', async () => {
    const { graph, one } = await twoBrands()
    await using _ = graph
    const { accessToken } = graph.job.connections.open(one.connection)
    const account = { externalId: one.connection.externalAccountId, name: one.connection.accountName }
    await graph.job.networks.get('X')!.publish(publication({ accessToken, account, copy }))
    await wake(graph, one.post)
    expect(await stored(graph, one.post)).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE', failureCode: 'DUPLICATE_CONTENT' })
  })

  test('that the network calls so and does not list for two minutes: change the text, and nothing is sent twice', async () => {
    const { graph, owner, post } = await publishedAndRefused(403)
    await using _ = graph
    await graph.x.arm({ fault: 'listing-lag', delayMs: 600_000, times: 1000 })
    await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(1000) } }, { as: owner })
    await graph.clock.advance(1000)
    await wake(graph, post)
    await asked(graph, 115)
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'UNKNOWN' })
    await asked(graph, 300)
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE', failureCode: 'DUPLICATE_CONTENT' })
    expect(await texts(graph)).toEqual([copy])
  })
})

describe('P-10 two brands that publish with one account', () => {
  test('the same text at the same moment: one is published, the other fails as a duplicate', async () => {
    const { graph, one, other } = await twoBrands()
    await using _ = graph
    await graph.x.arm({ fault: 'slow', delayMs: 300 })
    await Promise.all([wake(graph, one.post), wake(graph, other.post)])
    await asked(graph, 5)
    const rows = [await stored(graph, one.post), await stored(graph, other.post)]
    expect(rows.map(({ status }) => status).sort()).toEqual(['FAILED', 'PUBLISHED'])
    expect(rows.find(({ status }) => status === 'FAILED')).toMatchObject({ deliveryPhase: 'NONE', failureCode: 'DUPLICATE_CONTENT', platformPostId: null })
    expect(await texts(graph)).toEqual([copy])
  })

  test('a rejected post does not take over the network post of an attempt whose answer is pending', async () => {
    const { graph, one, other } = await twoBrands()
    await using _ = graph
    await graph.x.arm({ fault: 'slow', delayMs: 1_500 })
    const slow = wake(graph, one.post)
    await until(graph, one.post, { deliveryPhase: 'SENDING' })
    await expect.poll(() => texts(graph)).toEqual([copy])
    await wake(graph, other.post)
    await asked(graph, 5)
    expect(await stored(graph, other.post)).toMatchObject({ deliveryPhase: 'UNKNOWN' })
    await slow
    await asked(graph, 20)
    const [received] = await graph.x.published()
    expect(await stored(graph, one.post)).toMatchObject({ status: 'PUBLISHED', platformPostId: received!.id })
    expect(await stored(graph, other.post)).toMatchObject({ status: 'FAILED', failureCode: 'DUPLICATE_CONTENT' })
  })

  test('both interrupted: one of them gets the network’s post, and the other reports that', async () => {
    const { graph, one, other } = await twoBrands()
    await using _ = graph
    const { job } = graph
    const now = graph.clock.now()
    for (const { post, connection } of [one, other]) {
      const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
      await inTransaction(job, async ({ transaction }) => {
        await job.attempts.begin({ ...account, post, copy, inReplyTo: null }, { now, transaction })
        const sending = { deliveryPhase: 'SENDING' as const, attempts: 1, claimId: post.id, claimUntil: graph.clock.in(sendMs) }
        await job.posts.update(post, { ...account, ...sending }, transaction)
      })
    }
    const { accessToken } = job.connections.open(one.connection)
    const account = { externalId: one.connection.externalAccountId, name: one.connection.accountName }
    await job.networks.get('X')!.publish(publication({ accessToken, account, copy }))
    await asked(graph, (sendMs + answerableMs) / 1000 + 60)
    const rows = [await stored(graph, one.post), await stored(graph, other.post)]
    expect(rows.map(({ status, failureCode }) => `${status} ${failureCode}`).sort()).toEqual(['FAILED DUPLICATE_CONTENT', 'PUBLISHED null'])
    expect(await texts(graph)).toEqual([copy])
  })

  test('a person cannot assign the same network post to both', async () => {
    const { graph, one, other } = await twoBrands()
    await using _ = graph
    for (const { post } of [one, other]) {
      await graph.x.arm({ fault: 'status', status: 500 })
      await wake(graph, post)
    }
    const say = ({ post, owner }: typeof one) => graph.execute(resolveDelivery, { input: { id: post.id, platformPostId: '77' } }, { as: owner })
    expect((await say(one)).data().resolveDelivery.status).toBe('PUBLISHED')
    const refused = (await say(other)).refused('CONFLICT')
    expect([refused.extensions.field, JSON.stringify(refused).includes(one.post.id)]).toEqual(['platformPostId', false])
  })
})
