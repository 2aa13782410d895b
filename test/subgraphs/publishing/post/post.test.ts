import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { create, inTransaction } from '../../../../subgraphs/store/write.ts'
import { unbounded } from '../../../kit/reading.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedConnection } from '../connection/seed.ts'
import { createPost, deletePost, post, reschedulePost, updatePost } from '../documents.ts'

const actions = async (graph: Supergraph, id: string) =>
  (await graph.rows<{ action: string }>('select action from publishing.audit_entries where subject_id = $1 order by ctid', [id])).map(({ action }) => action)
const jobsOf = async (graph: Supergraph, id: string) =>
  (await graph.rows<{ at: Date }>(`select start_after as at from publishing_jobs.job where data->>'postId' = $1 order by start_after`, [id])).map(
    ({ at }) => at,
  )

describe('P-02 a new post', () => {
  test('is a draft of its own thread, with the caller as author', async () => {
    await using graph = await supergraph()
    const { member, brand } = await graph.seed.owner().member().brand()
    const input = { brandId: brand.id, platform: 'X', copy: 'Hello' }
    const made = (await graph.execute(createPost, { input }, { as: member })).data().createPost
    expect(made).toMatchObject({
      copy: 'Hello',
      platform: 'X',
      status: 'DRAFT',
      deliveryPhase: 'NONE',
      scheduledAt: null,
      position: 1,
      version: 1,
      failure: null,
    })
    expect(made).toMatchObject({ threadId: made.id, author: { id: member.userId }, createdAt: graph.clock.now().toISOString() })
    expect((await graph.execute(post, { id: made.id }, { as: member })).data().post).toEqual(made)
    expect([await actions(graph, made.id), await jobsOf(graph, made.id)]).toEqual([['post.created'], []])
  })

  test('with a time is scheduled, with its wake-up in the same transaction', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const scheduledAt = graph.clock.soon()
    const made = (await graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'Later', scheduledAt } }, { as: owner })).data().createPost
    expect(made).toMatchObject({ status: 'SCHEDULED', scheduledAt })
    expect(await jobsOf(graph, made.id)).toEqual([new Date(scheduledAt)])
  })

  test('by a key has no author, and the audit names the key', async () => {
    await using graph = await supergraph()
    const { key, brand } = await graph.seed.owner().key('publishing:posts.write', 'publishing:posts.read').brand()
    const made = (
      await graph.execute(
        'mutation($input: CreatePostInput!) { createPost(input: $input) { id author { id } } }',
        { input: { brandId: brand.id, platform: 'X', copy: 'k' } },
        { as: key },
      )
    ).data().createPost
    expect(made.author).toBe(null)
    expect(await graph.rows('select actor from publishing.audit_entries where subject_id = $1', [made.id])).toEqual([{ actor: `key:${key.keyId}` }])
  })

  test('joins the end of a thread of its brand; many at once take one position each', async () => {
    await using graph = await supergraph()
    const { owner, brand, post: first } = await graph.seed.owner().brand().post()
    const input = { brandId: brand.id, platform: 'X', threadId: first.threadId }
    const added = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(copy => graph.execute(createPost, { input: { ...input, copy } }, { as: owner })))
    expect(added.map(answer => answer.data().createPost.position).sort()).toEqual([2, 3, 4, 5, 6])
  })

  test('cannot join a thread of another brand, nor a missing one', async () => {
    await using graph = await supergraph()
    const { owner, brand, post: foreign } = await graph.seed.owner().brand().post().brand('Second')
    for (const threadId of [foreign.threadId, newId()]) {
      const answer = await graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'x', threadId } }, { as: owner })
      expect(answer.refused('NOT_FOUND').extensions.field).toBe('threadId')
    }
    expect(await graph.rows('select id from publishing.posts where brand_id = $1', [brand.id])).toEqual([])
  })
})

describe('an idempotency key', () => {
  const keyed = (brandId: string, changes: object = {}) => ({ input: { brandId, platform: 'X', copy: 'Once', idempotencyKey: 'key-1', ...changes } })

  test('answers the first post again, at once and many times', async () => {
    await using graph = await supergraph()
    const { owner, brand } = await graph.seed.owner().brand()
    const answers = await Promise.all([1, 2, 3, 4].map(() => graph.execute(createPost, keyed(brand.id), { as: owner })))
    const ids = answers.map(answer => answer.data().createPost.id)
    expect(new Set(ids).size).toBe(1)
    expect(await actions(graph, ids[0])).toEqual(['post.created'])
  })

  test('with another input is CONFLICT, and nothing is written', async () => {
    await using graph = await supergraph()
    const { owner, brand } = await graph.seed.owner().brand()
    await graph.execute(createPost, keyed(brand.id), { as: owner })
    expect((await graph.execute(createPost, keyed(brand.id, { copy: 'Other' }), { as: owner })).refused('CONFLICT').extensions.field).toBe('idempotencyKey')
    expect(await graph.rows('select copy from publishing.posts')).toEqual([{ copy: 'Once' }])
  })

  test('is valid after the post’s time: a late repetition finds its post', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    const variables = keyed(brand.id, { scheduledAt: graph.clock.soon(1000) })
    const first = (await graph.execute(createPost, variables, { as: owner })).data().createPost
    await graph.clock.advance(5000)
    expect((await graph.execute(createPost, variables, { as: owner })).data().createPost.id).toBe(first.id)
  })

  test('belongs to the organization: a colleague who sends it gets the same post, without consequences', async () => {
    await using graph = await supergraph()
    const { owner, member, brand } = await graph.seed.owner().member().brand()
    const first = (await graph.execute(createPost, keyed(brand.id), { as: owner })).data().createPost
    await graph.execute(updatePost, { input: { id: first.id, copy: 'Since' } }, { as: owner })
    expect((await graph.execute(createPost, keyed(brand.id), { as: member })).data().createPost).toMatchObject({
      id: first.id,
      copy: 'Since',
      author: { id: owner.userId },
    })
    expect(await actions(graph, first.id)).toEqual(['post.created', 'post.edited'])
  })

  test('shows of the first post only what the repeating caller may see', async () => {
    await using graph = await supergraph()
    const { owner, key, brand } = await graph.seed.owner().key('publishing:posts.write').brand()
    const first = (await graph.execute(createPost, keyed(brand.id), { as: owner })).data().createPost
    const repeat = (fields: string) =>
      graph.execute(`mutation ($input: CreatePostInput!) { createPost(input: $input) { ${fields} } }`, keyed(brand.id), { as: key })
    expect((await repeat('id')).data().createPost).toEqual({ id: first.id })
    expect((await repeat('id brand { id }')).partial).toMatchObject({ data: null, errors: [{ path: ['createPost', 'brand'] }] })
  })

  test('is valid for all brands of the organization, and for no other organization', async () => {
    await using graph = await supergraph()
    const { owner, outsider, brand, elsewhere } = await graph.seed.owner().outsider().brand()
    const second = await seedBrand(graph, { organizationId: owner.organizationId! })
    const others = await seedBrand(graph, { organizationId: elsewhere.id })
    await graph.execute(createPost, keyed(brand.id), { as: owner })
    expect((await graph.execute(createPost, keyed(second.id), { as: owner })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    expect((await graph.execute(createPost, keyed(others.id), { as: outsider })).data().createPost).toMatchObject({ brandId: others.id })
  })

  test('creates nothing again when its post was deleted', async () => {
    await using graph = await supergraph()
    const { owner, brand } = await graph.seed.owner().brand()
    const { id } = (await graph.execute(createPost, keyed(brand.id), { as: owner })).data().createPost
    ;(await graph.execute(deletePost, { input: { id } }, { as: owner })).data()
    expect((await graph.execute(createPost, keyed(brand.id), { as: owner })).refused('NOT_FOUND').extensions.field).toBe('idempotencyKey')
    expect((await graph.execute(createPost, keyed(brand.id, { copy: 'Other' }), { as: owner })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    expect(await graph.rows('select from publishing.posts')).toEqual([])
  })

  test('waits for a concurrent first request: it returns its post, or creates one when the first failed', async () => {
    await using graph = await supergraph()
    const { owner, member, brand } = await graph.seed.owner().member().brand()
    const organizationId = owner.organizationId!
    const context = graph.platform.publishing.open(owner, { ...unbounded, requestId: 'request-1' })
    const waiting = async () => {
      const [{ n } = { n: 0 }] = await graph.rows<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return n
    }
    for (const fails of [true, false]) {
      const end = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      const { idempotencyKey, ...input } = keyed(brand.id).input as Record<string, unknown>
      const first = create(context, {
        of: context.posts,
        once: { ...input, idempotencyKey } as { idempotencyKey: string },
        tenantId: organizationId,
        async run({ now }, id) {
          begun.resolve()
          await end.promise
          const place = { brandId: brand.id, threadId: id, position: 1, platform: 'X' as const }
          return { id, ...place, copy: 'Once', status: 'DRAFT' as const, authorId: owner.userId, createdAt: now, updatedAt: now, createdBy: 'user:x' }
        },
      })
      await begun.promise
      const repeated = graph.execute(createPost, keyed(brand.id), { as: member })
      await expect.poll(waiting).toBe(1)
      if (fails) end.reject(new Error('lost'))
      else end.resolve()
      if (fails) {
        await expect(first).rejects.toThrow('lost')
        expect((await repeated).data().createPost.author.id).toBe(member.userId)
        await graph.rows('delete from publishing.posts')
        await graph.rows('delete from publishing.idempotency_keys')
      } else expect((await repeated).data().createPost.id).toBe((await first).row.id)
    }
    expect(await graph.rows('select from publishing.posts')).toHaveLength(1)
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(256)],
  ])('that is %s is refused', async (_what, idempotencyKey) => {
    await using graph = await supergraph()
    const { owner, brand } = await graph.seed.owner().brand()
    ;(await graph.execute(createPost, keyed(brand.id, { idempotencyKey }), { as: owner })).refused('BAD_USER_INPUT')
  })
})

describe('P-04 updating a post', () => {
  test('changes the text, leaves the rest, and increments the version', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, post: before } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(1000)
    const changed = (await graph.execute(updatePost, { input: { id: before.id, copy: 'New' } }, { as: owner })).data().updatePost
    expect(changed).toMatchObject({ copy: 'New', status: 'SCHEDULED', scheduledAt: before.scheduledAt!.toISOString(), version: 2 })
    expect(changed).toMatchObject({ createdAt: before.createdAt.toISOString(), updatedAt: graph.clock.now().toISOString() })
    expect(await actions(graph, before.id)).toEqual(['post.created', 'post.edited'])
  })

  test('that clears the schedule answers a draft without a time', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, post: before } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
    const reverted = (await graph.execute(updatePost, { input: { id: before.id, scheduledAt: null } }, { as: owner })).data().updatePost
    expect(reverted).toMatchObject({ status: 'DRAFT', scheduledAt: null, copy: before.copy })
    expect(await actions(graph, before.id)).toEqual(['post.created', 'post.reverted'])
  })

  test('with a time schedules it, with a single wake-up however often the time changes', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, post: draft } = await graph.seed.owner().brand().post()
    const scheduledAt = graph.clock.soon()
    for (const [document, name] of [
      [updatePost, 'updatePost'],
      [reschedulePost, 'reschedulePost'],
    ] as const)
      expect((await graph.execute(document, { input: { id: draft.id, scheduledAt } }, { as: owner })).data()[name]).toMatchObject({
        status: 'SCHEDULED',
        scheduledAt,
      })
    expect(await jobsOf(graph, draft.id)).toEqual([new Date(scheduledAt)])
    expect(await actions(graph, draft.id)).toEqual(['post.created', 'post.scheduled'])
  })

  test('that changes nothing leaves version, time of change, audit, wake-ups, claim and screens alone', async () => {
    await using graph = await supergraph({ sandbox: true })
    const target = { kind: 'PAGE' as const, externalId: '1', name: 'One' }
    const { owner, brand, post: placed } = await graph.seed.owner().brand().post({ platform: 'FACEBOOK', target })
    const scheduledAt = graph.clock.soon()
    const input = { brandId: brand.id, platform: 'X', copy: 'Hello', scheduledAt }
    const { id } = (await graph.execute(createPost, { input }, { as: owner })).data().createPost
    const row = await graph.job.posts.byId.load(id)
    const claim = { deliveryPhase: 'CLAIMED' as const, claimId: newId(), claimUntil: graph.clock.in(1000) }
    await inTransaction(graph.job, ({ transaction }) => graph.job.posts.update(row!, claim, transaction))
    const before = await graph.rows('select * from publishing.posts order by id')
    await using following = await graph.subscribe('subscription($b: ID!) { postStatusChanged(brandId: $b) { id version } }', { b: brand.id }, { as: owner })
    await graph.clock.advance(1000)
    for (const [document, same] of [
      [updatePost, { id }],
      [updatePost, { id, copy: 'Hello' }],
      [updatePost, { id, scheduledAt, expectedVersion: 1 }],
      [updatePost, { id: placed.id, target, scheduledAt: null }],
      [reschedulePost, { id, scheduledAt }],
    ] as const)
      expect(Object.values((await graph.execute(document, { input: same }, { as: owner })).data())[0], JSON.stringify(same)).toMatchObject({ version: 1 })
    expect(await graph.rows('select * from publishing.posts order by id')).toEqual(before)
    expect([await actions(graph, id), await actions(graph, placed.id)]).toEqual([['post.created'], ['post.created']])
    expect(await jobsOf(graph, id)).toEqual([new Date(scheduledAt)])
    const other = graph.clock.soon(120_000)
    await graph.execute(reschedulePost, { input: { id, scheduledAt: other } }, { as: owner })
    expect((await following.next()).postStatusChanged).toEqual({ id, version: 2 })
  })

  test('keeps the target unless the input has another', async () => {
    await using graph = await supergraph()
    const target = { kind: 'PAGE' as const, externalId: '1', name: 'One' }
    const { owner, post: before } = await graph.seed.owner().brand().post({ platform: 'FACEBOOK', target })
    const change = async (input: object) => (await graph.execute(updatePost, { input: { id: before.id, ...input } }, { as: owner })).data().updatePost.target
    expect(await change({ copy: 'New' })).toEqual(target)
    expect(await change({ target: { kind: 'GROUP', externalId: '2' } })).toEqual({ kind: 'GROUP', externalId: '2', name: null })
    expect(await change({ target: null })).toBe(null)
  })

  test('shows the place’s name from its input, else from the brand’s connection of that network', async () => {
    await using graph = await supergraph()
    const {
      owner,
      brand,
      post: placed,
    } = await graph.seed
      .owner()
      .brand()
      .post({ platform: 'FACEBOOK', target: { kind: 'PAGE', externalId: '1', name: null } })
    const place = { kind: 'PAGE', selected: true, isDefault: false, available: true, reason: null }
    const nameOf = async () =>
      (await graph.execute('query($id: ID!) { post(id: $id) { target { name } } }', { id: placed.id }, { as: owner })).data().post.target.name
    const connect = async (platform: 'FACEBOOK' | 'LINKEDIN_PAGE', targets: readonly object[]) => {
      const { id } = await seedConnection(graph, { brandId: brand.id, owner }, { platform })
      await graph.rows('update publishing.connections set targets = $2 where id = $1', [id, JSON.stringify(targets)])
    }
    await connect('LINKEDIN_PAGE', [{ ...place, externalId: '1', name: 'Elsewhere' }])
    expect(await nameOf()).toBe(null)
    await connect('FACEBOOK', [
      { ...place, kind: 'GROUP', externalId: '1', name: 'Group' },
      { ...place, externalId: '2', name: 'Two' },
      { ...place, externalId: '1', name: 'One' },
    ])
    expect(await nameOf()).toBe('One')
    await graph.execute(updatePost, { input: { id: placed.id, target: { kind: 'PAGE', externalId: '1', name: 'Mine' } } }, { as: owner })
    expect(await nameOf()).toBe('Mine')
  })

  test('against an older version is CONFLICT; one of two concurrent updates wins', async () => {
    await using graph = await supergraph()
    const { owner, post: before } = await graph.seed.owner().brand().post()
    const change = (copy: string) => graph.execute(updatePost, { input: { id: before.id, copy, expectedVersion: 1 } }, { as: owner })
    const answers = await Promise.all([change('a'), change('b'), change('c')])
    const won = answers.filter(({ partial }) => partial.errors.length === 0)
    expect(won).toHaveLength(1)
    for (const answer of answers) if (answer !== won[0]) expect(answer.refused('CONFLICT').extensions).toMatchObject({ reason: 'STALE_VERSION', version: 2 })
    expect((await graph.rows('select version from publishing.posts'))[0]).toEqual({ version: 2 })
  })

  test('is held to the version by delete and reschedule too', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, post: before } = await graph.seed.owner().brand().post()
    ;(await graph.execute(deletePost, { input: { id: before.id, expectedVersion: 2 } }, { as: owner })).refused('CONFLICT')
    ;(await graph.execute(reschedulePost, { input: { id: before.id, scheduledAt: graph.clock.soon(), expectedVersion: 2 } }, { as: owner })).refused('CONFLICT')
    expect((await graph.execute(post, { id: before.id }, { as: owner })).data().post).toMatchObject({ status: 'DRAFT', version: 1 })
  })

  test('that fails leaves neither row, audit nor wake-up behind', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, post: before } = await graph.seed.owner().brand().post()
    await graph.rows('alter table publishing.audit_entries rename to audit_entries_away')
    const answer = await graph.execute(updatePost, { input: { id: before.id, scheduledAt: graph.clock.soon() } }, { as: owner })
    expect(answer.refused('INTERNAL_SERVER_ERROR').message).toBe('Internal server error')
    await graph.rows('alter table publishing.audit_entries_away rename to audit_entries')
    expect((await graph.execute(post, { id: before.id }, { as: owner })).data().post).toMatchObject({ status: 'DRAFT', version: 1 })
    expect([await actions(graph, before.id), await jobsOf(graph, before.id)]).toEqual([['post.created'], []])
  })
})

describe('P-03 a published post', () => {
  test('cannot be changed, moved or deleted', async () => {
    await using graph = await supergraph({ sandbox: true })
    const row = { status: 'PUBLISHED' as const, publishedAt: graph.clock.now(), platformPostId: '1' }
    const { owner, post: done } = await graph.seed.owner().brand().post({ row })
    const { id } = done
    for (const [document, input] of [
      [updatePost, { id, copy: 'New' }],
      [updatePost, { id, scheduledAt: null }],
      [updatePost, { id, scheduledAt: graph.clock.soon() }],
      [reschedulePost, { id, scheduledAt: graph.clock.soon() }],
      [deletePost, { id }],
    ] as const)
      (await graph.execute(document, { input }, { as: owner })).refused('CONFLICT')
    expect(await actions(graph, id)).toEqual(['post.created'])
  })
})

test('P-09 a failed post that is scheduled again loses its failure, and needs a time in the future', async () => {
  await using graph = await supergraph({ sandbox: true })
  const row = { status: 'FAILED' as const, failureCode: 'NO_CONNECTION', failureMessage: 'none', failedAt: graph.clock.now(), attempts: 1 }
  const { owner, post: failed } = await graph.seed.owner().brand().post({ row })
  const again = (scheduledAt: string) => graph.execute(reschedulePost, { input: { id: failed.id, scheduledAt } }, { as: owner })
  ;(await again(graph.clock.soon(0))).refused('BAD_USER_INPUT')
  ;(await again(graph.clock.soon(-1))).refused('BAD_USER_INPUT')
  expect((await graph.execute(post, { id: failed.id }, { as: owner })).data().post.failure).toMatchObject({ code: 'NO_CONNECTION', attempts: 1 })
  expect((await again(graph.clock.soon())).data().reschedulePost).toMatchObject({ status: 'SCHEDULED', failure: null })
})

test('a deleted post is answered as it was, is gone, and leaves its line in the audit', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, thread } = await graph.seed
    .owner()
    .brand()
    .thread(2, { scheduledAt: graph.clock.in(60_000) })
  const { id, copy } = thread[0]!
  expect((await graph.execute(deletePost, { input: { id } }, { as: owner })).data().deletePost).toMatchObject({ id, copy, status: 'SCHEDULED' })
  ;(await graph.execute(post, { id }, { as: owner })).refused('NOT_FOUND')
  ;(await graph.execute(deletePost, { input: { id } }, { as: owner })).refused('NOT_FOUND')
  expect(await actions(graph, id)).toEqual(['post.created', 'post.deleted'])
  expect((await graph.execute(post, { id: thread[1]!.id }, { as: owner })).data().post.waitsFor).toBe(null)
})
