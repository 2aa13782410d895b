import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { care } from '../../../../subgraphs/publishing/connection/sweep.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { seedMembership } from '../../identity/membership/seed.ts'
import { seedConnection } from '../connection/seed.ts'
import { seedPost } from '../post/seed.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const mutation = (name: string, fields: string) => `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`
const transfer = mutation('transferBrand', 'id organizationId version')
const pause = mutation('pauseBrand', 'pausedAt version')
const resume = mutation('resumeBrand', 'pausedAt version')
const statusOf = (ids: string[]) =>
  graph.rows<{ id: string; status: string; scheduled_at: Date | null; version: number }>(
    'select id, status, scheduled_at, version from publishing.posts where id = any($1::uuid[]) order by id',
    [ids],
  )

/** A brand, and an organization that its owner belongs to as well. */
async function twoHomes() {
  const story = await graph.seed.owner().outsider().member().brand()
  const { owner, elsewhere, organization } = story
  await seedMembership(graph, { organizationId: elsewhere.id, userId: owner.userId!, role: 'member' })
  return { ...story, home: organization.id, there: elsewhere.id, ownerThere: person(owner.userId!, elsewhere.id, ['owner']) }
}

describe('pausing and resuming a brand', () => {
  test('is paused once and resumed once; nothing is written twice', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const ask = (document: string, input: object) => graph.execute(document, { input: { id: brand.id, ...input } }, { as: owner })
    const first = (await ask(pause, {})).data().pauseBrand
    expect(first).toEqual({ pausedAt: expect.any(String), version: 2 })
    expect((await ask(pause, {})).data().pauseBrand).toEqual(first)
    expect((await ask(resume, { overdue: 'SEND' })).data().resumeBrand).toEqual({ pausedAt: null, version: 3 })
    expect((await ask(resume, { overdue: 'REVERT' })).data().resumeBrand).toEqual({ pausedAt: null, version: 3 })
    expect((await ask(pause, { expectedVersion: 1 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
  })

  test('turns posts that became due into drafts when asked to, and leaves later ones scheduled', async () => {
    const story = graph.seed
      .owner()
      .brand()
      .posts(2, { scheduledAt: graph.clock.in(60_000) })
    const { owner, brand, posts, post: later } = await story.post({ scheduledAt: graph.clock.in(3_600_000) })
    const ids = posts.map(({ id }) => id).sort()
    await graph.execute(pause, { input: { id: brand.id } }, { as: owner })
    const waited = 'update publishing.posts set waits_until = scheduled_at, waiting_since = scheduled_at, waits = 3 where id = $1'
    await graph.rows(waited, [ids[0]])
    await graph.clock.advance(61_000)
    await graph.execute(resume, { input: { id: brand.id, overdue: 'REVERT' } }, { as: owner }).then(answer => answer.data())
    expect(await statusOf(ids)).toEqual(ids.map(id => ({ id, status: 'DRAFT', scheduled_at: null, version: 2 })))
    const waits = 'select waits_until, waiting_since, waits from publishing.posts where id = $1'
    expect(await graph.rows(waits, [ids[0]]), 'a draft waits for nothing').toEqual([{ waits_until: null, waiting_since: null, waits: 0 }])
    expect(await statusOf([later.id])).toMatchObject([{ status: 'SCHEDULED', version: 1 }])
    const reverted = `select action from publishing.audit_entries where subject_id = any($1::uuid[]) and action = 'post.reverted'`
    expect(await graph.rows(reverted, [ids])).toHaveLength(2)
  })
})

describe('a brand that moves', () => {
  test('changes its organization and its version alone, and is on both records', async () => {
    const { owner, brand, home, there, ownerThere } = await twoHomes()
    const before = (await graph.rows('select * from publishing.brands where id = $1', [brand.id]))[0]!
    expect((await graph.execute(transfer, { input: { id: brand.id, organizationId: there } }, { as: owner })).data().transferBrand).toEqual({
      id: brand.id,
      organizationId: there,
      version: 2,
    })
    const after = (await graph.rows('select * from publishing.brands where id = $1', [brand.id]))[0]!
    expect({ ...after, updated_at: null }).toEqual({ ...before, organization_id: there, version: 2, updated_at: null })
    const record = 'select tenant_id from publishing.audit_entries where action = $1 and subject_id = $2'
    const tenants = (await graph.rows<{ tenant_id: string }>(record, ['brand.transferred', brand.id])).map(({ tenant_id }) => tenant_id)
    expect(tenants.sort()).toEqual([brand.id, home, there].sort())
    const read = '{ brand(id: "ID") { id } }'.replace('ID', brand.id)
    ;(await graph.execute(read, {}, { as: owner })).refused('NOT_FOUND')
    expect((await graph.execute(read, {}, { as: ownerThere })).data().brand.id).toBe(brand.id)
  })

  test('is rejected for an organization without the owner, whether or not it exists, and for a mere member', async () => {
    const { owner, member, brand, there } = await twoHomes()
    const { elsewhere: strange } = await graph.seed.owner().outsider()
    const words = async (organizationId: string) => {
      const refused = (await graph.execute(transfer, { input: { id: brand.id, organizationId } }, { as: owner })).refused('NOT_FOUND')
      return refused.message.replace(organizationId, 'ID')
    }
    expect(await words(strange.id)).toBe(await words(newId()))
    expect(await words(newId())).toBe('You are in no organization ID: a brand moves to one of yours.')
    ;(await graph.execute(transfer, { input: { id: brand.id, organizationId: there } }, { as: member })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect(await graph.rows('select version from publishing.brands where id = $1', [brand.id])).toEqual([{ version: 1 }])
  })

  test('ends the former organization’s streams, and moves its posts’ action items, closed before opened', async () => {
    const { owner, brand, there } = await twoHomes()
    const input = { brandId: brand.id, platform: 'X', copy: 'No' }
    const { id } = (await graph.execute(mutation('createPost', 'id'), { input }, { as: owner })).data().createPost
    await graph.rows(
      `update publishing.posts set status = 'FAILED', failure_code = 'NO_CONNECTION', failure_message = 'No.', failed_at = now() where id = $1`,
      [id],
    )
    const listening = graph.listeners()
    const follow = (field: string) => graph.subscribe(`subscription($id: ID!) { ${field}(brandId: $id) { id } }`, { id: brand.id }, { as: owner })
    const live = await Promise.all(['postStatusChanged', 'brandActivity', 'connectionHealthChanged'].map(follow))
    const everyBrands = await graph.subscribe('subscription { connectionHealthChanged { id } }', {}, { as: owner })
    await graph.execute(transfer, { input: { id: brand.id, organizationId: there } }, { as: owner }).then(answer => answer.data())
    await vi.waitFor(() => expect(graph.listeners(), 'that of all brands goes on with the others').toBe(listening + 1))
    expect(live[1]!.events, 'the move ends the stream, and is nothing that it tells').toEqual([])
    for (const each of [...live, everyBrands]) await each.end()
    const facts = await graph.rows<{ kind: string; body: { organizationId?: string } }>(
      `select kind, body from publishing.facts where body->>'key' = $1 order by seq`,
      [`post:${id}`],
    )
    expect(facts.map(({ kind, body }) => [kind, body.organizationId])).toEqual([
      ['attention.closed', undefined],
      ['attention.opened', there],
    ])
  })

  test('moves its connections’ action items to the new organization, closed before opened, and creates no others', async () => {
    const { owner, brand, there } = await twoHomes()
    const at = { brandId: brand.id, owner }
    const connection = await seedConnection(graph, at)
    const well = await seedConnection(graph, at, { externalAccountId: newId() })
    const post = await seedPost(graph, at, { scheduledAt: graph.clock.in(3_600_000) })
    await graph.rows(`update publishing.connections set health = 'EXPIRING', reconnect_before = $2 where id = $1`, [connection.id, graph.clock.in(86_400_000)])
    const before = await statusOf([post.id])
    await graph.execute(transfer, { input: { id: brand.id, organizationId: there } }, { as: owner }).then(answer => answer.data())
    const told = async (id: string) =>
      graph.rows<{ kind: string; organization: string }>(
        `select kind, body->>'organizationId' as organization from publishing.facts where body->>'key' = $1 order by seq`,
        [`connection:${id}`],
      )
    expect(await told(connection.id)).toEqual([
      { kind: 'attention.closed', organization: null },
      { kind: 'attention.opened', organization: there },
    ])
    expect(await told(well.id)).toEqual([])
    // What is under way goes on: the post stands as it stood, and its connections with it.
    expect(await statusOf([post.id])).toEqual(before)
  })

  test('sends the action item of a failing connection to the new organization, even if the failing job began before the move', async () => {
    const { owner, brand, there } = await twoHomes()
    const connection = await seedConnection(graph, { brandId: brand.id, owner })
    const { job } = graph
    const seen = await job.brands.byId.load(brand.id)
    const brands = Object.create(job.brands, { byId: { value: { load: async () => seen } } }) as typeof job.brands
    await graph.execute(transfer, { input: { id: brand.id, organizationId: there } }, { as: owner }).then(answer => answer.data())
    await graph.rows('update publishing.connections set reconnect_before = $2 where id = $1', [connection.id, graph.clock.in(3 * 86_400_000)])
    await care(Object.create(job, { brands: { value: brands } }) as typeof job)
    const told = await graph.rows(`select body->>'organizationId' as organization from publishing.facts where body->>'key' = $1`, [
      `connection:${connection.id}`,
    ])
    expect(told).toEqual([{ organization: there }])
  })
})
