import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const fields = 'id status approval held version approvalEvents { action comment user { id } }'
const mutate = (name: string) => `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`
const ask = (name: string, as: Viewer, input: object) => graph.execute(mutate(name), { input }, { as })
const modeOf = (as: Viewer, id: string, approvalMode: string, more: object = {}) =>
  graph
    .execute('mutation($input: UpdateBrandInput!) { updateBrand(input: $input) { id } }', { input: { id, approvalMode, ...more } }, { as })
    .then(answer => answer.data())
const later = () => graph.clock.in(3_600_000)
const approvalOf = async (id: string) =>
  (await graph.rows<{ approval: string; status: string }>('select approval, status from publishing.posts where id = $1', [id]))[0]!

/** A brand that approves in this way, its owner, and somebody who writes. */
async function approving(mode: string) {
  const story = graph.seed.owner().member().brand().connection()
  const { owner, member, brand } = await story
  await modeOf(owner, brand.id, mode)
  const write = async (by: Viewer, input: object = {}) =>
    (await ask('createPost', by, { brandId: brand.id, platform: 'X', copy: 'Hello', ...input })).data().createPost
  return { owner, member, brand, write, admin: person(member.userId!, brand.organizationId, ['admin']) }
}

describe('a post that needs approval', () => {
  test('waits once it is scheduled, stays editable, and needs approval again after a change', async () => {
    const { owner, member, write } = await approving('REQUIRED')
    const post = await write(member, { scheduledAt: later() })
    expect(post).toMatchObject({ status: 'SCHEDULED', approval: 'PENDING', approvalEvents: [{ action: 'RESET' }] })
    expect((await ask('updatePost', member, { id: post.id, copy: 'Edited' })).data().updatePost.approval).toBe('PENDING')
    expect((await ask('decidePost', owner, { id: post.id, decision: 'APPROVE' })).data().decidePost).toMatchObject({
      approval: 'APPROVED',
      status: 'SCHEDULED',
    })
    expect((await ask('updatePost', member, { id: post.id, tags: ['a tag'] })).data().updatePost.approval).toBe('APPROVED')
    expect((await ask('reschedulePost', member, { id: post.id, scheduledAt: graph.clock.in(7_200_000) })).data().reschedulePost.approval).toBe('APPROVED')
    const changed = (await ask('updatePost', member, { id: post.id, title: 'Another' })).data().updatePost
    expect(changed).toMatchObject({ approval: 'PENDING', status: 'SCHEDULED' })
    expect(changed.approvalEvents.map(({ action }: { action: string }) => action)).toEqual(['RESET', 'APPROVE', 'RESET'])
  })

  test('cannot be decided on by a person who loses the right at that moment', async () => {
    const { owner, member, brand, write } = await approving('REQUIRED')
    const { id } = await write(owner, { scheduledAt: later() })
    await modeOf(owner, brand.id, 'REQUIRED', { approverIds: [member.userId] })
    const decided = await inTransaction(graph.job, async ({ transaction }) => {
      const row = await graph.job.brands.lock(brand.id, transaction)
      await graph.job.brands.update(row!, { approverIds: [] }, transaction)
      const asked = ask('decidePost', member, { id, decision: 'APPROVE' })
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(async () => (await graph.rows(waiting)).length).toBe(1)
      return { asked }
    })
    ;(await decided.asked).refused('FORBIDDEN')
    expect(await approvalOf(id)).toEqual({ approval: 'PENDING', status: 'SCHEDULED' })
  })

  test('is decided on by one of ten approvers at once, and never changes its status', async () => {
    const { owner, member, admin, write } = await approving('REQUIRED')
    const own = await write(admin)
    ;(await ask('submitPost', member, { id: own.id, comment: 'Please' })).data()
    const twice = (await ask('submitPost', member, { id: own.id })).refused('CONFLICT')
    expect(twice.extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'PENDING', verb: 'SUBMIT', possible: expect.arrayContaining(['APPROVE']) })
    ;(await ask('decidePost', admin, { id: own.id, decision: 'APPROVE' })).refused('FORBIDDEN')
    ;(await ask('decidePost', member, { id: own.id, decision: 'APPROVE' })).refused('FORBIDDEN')
    expect((await ask('decidePost', owner, { id: own.id, decision: 'REJECT' })).refused('BAD_USER_INPUT').extensions.field).toBe('comment')
    ;(await ask('decidePost', owner, { id: own.id, decision: 'REQUEST_CHANGES', comment: ' Shorter ' })).data()
    const ten = await Promise.all(Array.from({ length: 10 }, () => ask('decidePost', owner, { id: own.id, decision: 'APPROVE' })))
    expect(ten.filter(answer => answer.partial.data?.decidePost?.approval === 'APPROVED')).toHaveLength(1)
    expect(ten.filter(answer => answer.partial.errors?.[0]?.extensions?.code === 'CONFLICT')).toHaveLength(9)
    const edited = (await ask('updatePost', member, { id: own.id, copy: 'Shorter' })).data().updatePost
    expect(edited).toMatchObject({ status: 'DRAFT', approval: 'PENDING' })
    expect(edited.approvalEvents).toContainEqual({ action: 'REQUEST_CHANGES', comment: 'Shorter', user: { id: owner.userId } })
  })

  test('is decided on by an approver of the brand', async () => {
    const { owner, member, brand, write } = await approving('OPTIONAL')
    const post = await write(owner)
    ;(await ask('submitPost', owner, { id: post.id })).data()
    await modeOf(owner, brand.id, 'OPTIONAL', { approverIds: [member.userId] })
    expect((await ask('decidePost', member, { id: post.id, decision: 'APPROVE' })).data().decidePost.approval).toBe('APPROVED')
  })

  test('accepts only members of the organization as approvers: others and unknown ids are rejected alike', async () => {
    const { owner, member, outsider, brand } = await graph.seed.owner().member().outsider().brand()
    const update = 'mutation($input: UpdateBrandInput!) { updateBrand(input: $input) { version approvers { id } } }'
    const name = (approverIds: readonly (string | null)[]) => graph.execute(update, { input: { id: brand.id, approverIds } }, { as: owner })
    for (const stranger of [outsider.userId, newId()]) {
      const refused = (await name([member.userId, stranger])).refused('BAD_USER_INPUT')
      expect(refused.extensions).toMatchObject({ field: 'approverIds', ids: [stranger] })
    }
    expect((await name([member.userId])).data().updateBrand).toEqual({ version: 2, approvers: [{ id: member.userId }] })
    expect((await name([])).data().updateBrand).toEqual({ version: 3, approvers: [] })
  })

  test('is held and released whatever it is', async () => {
    const { owner, write } = await approving('NONE')
    const post = await write(owner, { scheduledAt: later() })
    expect((await ask('decidePost', owner, { id: post.id, decision: 'HOLD' })).data().decidePost).toMatchObject({ held: true, approval: 'NONE', version: 2 })
    expect((await ask('decidePost', owner, { id: post.id, decision: 'HOLD' })).data().decidePost.version).toBe(2)
    expect((await ask('decidePost', owner, { id: post.id, decision: 'RELEASE' })).data().decidePost).toMatchObject({ held: false, version: 3 })
    ;(await ask('submitPost', owner, { id: post.id })).refused('CONFLICT')
  })

  test('follows its brand’s changed approval mode', async () => {
    const { owner, brand, write } = await approving('NONE')
    const scheduled = await write(owner, { scheduledAt: later() })
    const draft = await write(owner)
    await modeOf(owner, brand.id, 'REQUIRED')
    expect([await approvalOf(scheduled.id), await approvalOf(draft.id)]).toEqual([
      { approval: 'PENDING', status: 'SCHEDULED' },
      { approval: 'NONE', status: 'DRAFT' },
    ])
    await modeOf(owner, brand.id, 'OPTIONAL')
    expect(await approvalOf(scheduled.id)).toEqual({ approval: 'PENDING', status: 'SCHEDULED' })
    await modeOf(owner, brand.id, 'NONE')
    expect(await approvalOf(scheduled.id)).toEqual({ approval: 'NONE', status: 'SCHEDULED' })
    const listed = 'query($id: ID!, $approval: PostApproval) { posts(brandId: $id, approval: $approval) { totalCount } }'
    expect((await graph.execute(listed, { id: brand.id, approval: 'PENDING' }, { as: owner })).data().posts.totalCount).toBe(0)
  })
})
