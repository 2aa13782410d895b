import { expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import type { PostRow } from '../../../subgraphs/publishing/stores/post.ts'
import { alter, inTransaction, step } from '../../../subgraphs/store/write.ts'
import { supergraph } from '../../kit/supergraph.ts'

/** A post with an attempt that goes with it, and what a job has to work with. */
async function world() {
  const graph = await supergraph()
  const { connection, post } = await graph.seed.owner().brand().connection().post()
  const { job, clock } = graph
  const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
  const attempt = await inTransaction(job, unit => job.attempts.begin({ ...account, post, copy: post.copy, inReplyTo: null }, unit))
  await clock.advance(1000)
  const line = ({ after }: { after: PostRow }) => ({ tenantId: after.brandId, action: 'post.tried', subjectId: after.id })
  const stand = async () => ({
    post: (await graph.rows('select copy, attempts, version, updated_at from publishing.posts'))[0],
    attempt: (await graph.rows('select detail, updated_at from publishing.attempts'))[0],
    record: await graph.rows(`select action, actor, at from publishing.audit_entries where action = 'post.tried'`),
  })
  return { graph, job, clock, post, attempt, line, stand }
}

test('a step writes the row that it holds and the one that goes with it, their record and what follows, then tells of it', async () => {
  const { graph, job, clock, post, attempt, line, stand } = await world()
  await using _ = graph
  const followed: unknown[] = []
  const stepped = await step(job, {
    of: job.posts,
    hold: post.id,
    decide: () => ({
      along: alter(job.attempts, attempt, { detail: 'tried' }),
      changes: ({ detail }) => ({ copy: `${detail} it` }),
      isNews: true,
    }),
    audit: line,
    wake: async ({ after }, { transaction, now }) => {
      const [seen] = await job.posts.read<{ copy: string }>({ text: 'select copy from publishing.posts' }, [], transaction)
      followed.push(['within', seen!.copy, after.copy, now, (await stand()).post!.copy])
    },
    announce: async ({ before, after, along }) => {
      followed.push(['after', before.copy, (await stand()).post!.copy, after.version, along?.detail])
    },
  })
  const now = clock.now()
  expect(followed).toEqual([
    ['within', 'tried it', 'tried it', now, post.copy],
    ['after', post.copy, 'tried it', post.version + 1, 'tried'],
  ])
  expect(stepped).toMatchObject({ before: { copy: post.copy }, after: { copy: 'tried it', updatedAt: now }, along: { detail: 'tried', updatedAt: now } })
  expect(await stand()).toEqual({
    post: { copy: 'tried it', attempts: 0, version: post.version + 1, updated_at: now },
    attempt: { detail: 'tried', updated_at: now },
    record: [{ action: 'post.tried', actor: 'delivery', at: now }],
  })
})

test('what is no news makes no version; and a step may change only what goes with the row', async () => {
  const { graph, job, clock, post, attempt, stand } = await world()
  await using _ = graph
  const before = await stand()
  await step(job, { of: job.posts, hold: post.id, decide: () => ({ changes: { attempts: 1 } }) })
  expect(await stand()).toEqual({ ...before, post: { ...before.post, attempts: 1 } })
  const statements = await graph.statements(() =>
    step(job, { of: job.posts, hold: post.id, decide: () => ({ changes: {}, along: alter(job.attempts, attempt, { detail: 'alone' }) }) }),
  )
  expect(await stand()).toEqual({ ...before, post: { ...before.post, attempts: 1 }, attempt: { detail: 'alone', updated_at: clock.now() } })
  expect(statements.filter(sql => /update publishing.posts|update "publishing"."posts"/i.test(sql))).toEqual([])
})

test('nothing is written and nothing follows when the rule declines, the row is gone, or somebody else has it', async () => {
  const { graph, job, post, line, stand } = await world()
  await using _ = graph
  const before = await stand()
  const followed: unknown[] = []
  const following = { audit: line, wake: async () => void followed.push('wake'), announce: () => void followed.push('announce') }
  const decide = () => ({ changes: { copy: 'Other' }, isNews: true })
  expect(await step(job, { of: job.posts, hold: post.id, decide: () => null, ...following })).toBe(null)
  expect(await step(job, { of: job.posts, hold: newId(), decide, ...following })).toBe(null)
  const key = { brandId: post.brandId, postId: post.id }
  const unlessHeld = (transaction: Parameters<typeof job.posts.lock>[1]) => job.attempts.lockIfFree(key, transaction)
  await inTransaction(job, async ({ transaction }) => {
    await job.posts.lock(post.id, transaction)
    expect(await step(job, { of: job.posts, hold: unlessHeld, decide, ...following })).toBe(null)
  })
  expect([await stand(), followed]).toEqual([before, []])
  expect(await step(job, { of: job.posts, hold: unlessHeld, decide })).toMatchObject({ after: { copy: 'Other' } })
})

test('a step that fails at its end leaves neither row nor record, and tells nobody', async () => {
  const { graph, job, post, attempt, line, stand } = await world()
  await using _ = graph
  const before = await stand()
  const announced: unknown[] = []
  const failing = step(job, {
    of: job.posts,
    hold: post.id,
    decide: () => ({ changes: { copy: 'Other' }, isNews: true, along: alter(job.attempts, attempt, { detail: 'lost' }) }),
    audit: line,
    wake: () => Promise.reject(new Error('no wake-up')),
    announce: () => void announced.push('told'),
  })
  await expect(failing).rejects.toThrow('no wake-up')
  expect([await stand(), announced]).toEqual([before, []])
})

test('steps with one row come one after the other, and what counts in each is the time since the row is its own', async () => {
  const { graph, job, clock, post, line, stand } = await world()
  await using _ = graph
  const held = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<Date>()
  const first = step(job, {
    of: job.posts,
    hold: post.id,
    async decide(_, { now }) {
      begun.resolve(now)
      held.resolve()
      await end.promise
      return { changes: { copy: 'First' }, isNews: true }
    },
  })
  await held.promise
  const second = step(job, {
    of: job.posts,
    hold: post.id,
    decide: ({ copy }, { now }) => ({ changes: { copy: `${copy} ${now.getTime()}` }, isNews: true }),
    audit: line,
  })
  await expect.poll(async () => graph.rows(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).toHaveLength(1)
  await clock.advance(3000)
  end.resolve()
  await Promise.all([first, second])
  const now = clock.now()
  expect(now.getTime() - (await begun.promise).getTime()).toBe(3000)
  expect(await stand()).toMatchObject({
    post: { copy: `First ${now.getTime()}`, version: post.version + 2, updated_at: now },
    record: [{ action: 'post.tried', at: now }],
  })
})
