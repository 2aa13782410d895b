import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedPost } from '../post/seed.ts'
import { seedCampaign } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let outsider: Viewer
let brandId: string
beforeAll(async () => {
  graph = await supergraph()
  const world = await graph.seed.owner().outsider().brand()
  owner = world.owner
  outsider = world.outsider
  brandId = world.brand.id
})
afterAll(() => graph[Symbol.asyncDispose]())

const fields = '{ id name description color startsOn endsOn archivedAt version counts { draft scheduled published failed } }'
const create = (input: object) =>
  graph.execute(`mutation($input: CreateCampaignInput!) { createCampaign(input: $input) ${fields} }`, { input: { brandId, ...input } }, { as: owner })
const verb = (name: string, input: object, as = owner) =>
  graph.execute(`mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) ${fields} }`, { input }, { as })
const read = async (id: string) => (await graph.execute(`query($id: ID!) { campaign(id: $id) ${fields} }`, { id }, { as: owner })).data().campaign
async function postIn(campaignId: string, row: object = {}): Promise<string> {
  const { job } = graph
  const { id } = await seedPost(graph, { brandId, owner })
  await inTransaction(job, async ({ transaction }) => job.posts.update((await job.posts.lock(id, transaction))!, { campaignId, ...row }, transaction))
  return id
}

describe('P-18 a campaign', () => {
  test('is created with its texts and days, once for one key, and updates the given fields', async () => {
    const input = { name: ' Launch ', description: 'Of it.', color: '#1E90FF', startsOn: '2100-03-01', endsOn: '2100-03-31', idempotencyKey: 'k' }
    const [one, two] = [(await create(input)).data().createCampaign, (await create(input)).data().createCampaign]
    expect(two).toEqual(one)
    expect(one).toMatchObject({ name: 'Launch', color: '#1e90ff', startsOn: '2100-03-01', endsOn: '2100-03-31', version: 1 })
    const changed = (await verb('updateCampaign', { id: one.id, description: null, endsOn: null })).data().updateCampaign
    expect(changed).toMatchObject({ name: 'Launch', description: null, startsOn: '2100-03-01', endsOn: null, version: 2 })
    expect((await verb('updateCampaign', { id: one.id, name: 'Launch' })).data().updateCampaign.version, 'nothing new').toBe(2)
    ;(await verb('updateCampaign', { id: one.id, name: 'X', expectedVersion: 1 })).refused('CONFLICT')
  })

  test.each([
    ['without a name', { name: ' ' }, 'name'],
    ['with 81 characters', { name: 'x'.repeat(81) }, 'name'],
    ['with a colour that is none', { name: 'x', color: 'red' }, 'color'],
    ['on a day that is none', { name: 'x', startsOn: '2100-02-29' }, 'startsOn'],
    ['that ends before it begins', { name: 'x', startsOn: '2100-03-02', endsOn: '2100-03-01' }, 'endsOn'],
    ['that ends and never begins', { name: 'x', endsOn: '2100-03-01' }, 'endsOn'],
  ])('is never made %s', async (_, input, field) => {
    expect((await create(input)).refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })

  test('counts its posts by status, pages them, and costs the same statements for two campaigns and for twelve', async () => {
    const { id } = await seedCampaign(graph, { brandId })
    const posts = [await postIn(id), await postIn(id), await postIn(id, { status: 'SCHEDULED', scheduledAt: graph.clock.in(86_400_000) })]
    expect((await read(id)).counts).toEqual({ draft: 2, scheduled: 1, published: 0, failed: 0 })
    const page = await graph.execute(
      'query($id: ID!) { campaign(id: $id) { posts(first: 2) { nodes { id campaign { id } } totalCount } } }',
      { id },
      { as: owner },
    )
    expect(page.data().campaign.posts).toMatchObject({ totalCount: 3, nodes: [{ id: expect.any(String), campaign: { id } }, {}] })
    expect(posts).toEqual(expect.arrayContaining(page.data().campaign.posts.nodes.map((node: { id: string }) => node.id)))
    const other = (await seedBrand(graph, { organizationId: owner.organizationId! })).id
    const ask = () =>
      graph.statements(async () =>
        (
          await graph.execute('query($id: ID!) { campaigns(brandId: $id) { nodes { counts { draft } posts { nodes { id } } } } }', { id: other }, { as: owner })
        ).data(),
      )
    for (let made = 0; made < 2; made += 1) await seedCampaign(graph, { brandId: other })
    const few = await ask()
    for (let made = 0; made < 10; made += 1) await seedCampaign(graph, { brandId: other })
    expect((await ask()).length).toBe(few.length)
  })

  test('is deleted without its posts: they stay scheduled, and belong to no campaign', async () => {
    const { id } = await seedCampaign(graph, { brandId })
    const post = await postIn(id)
    ;(await verb('deleteCampaign', { id })).data()
    const left = await graph.execute('query($id: ID!) { post(id: $id) { copy version campaign { id } } }', { id: post }, { as: owner })
    expect(left.data().post).toMatchObject({ copy: expect.any(String), campaign: null })
    ;(await verb('deleteCampaign', { id })).refused('NOT_FOUND')
  })

  test('can be archived and restored; an archived brand accepts no change of it', async () => {
    const { id: place } = await seedBrand(graph, { organizationId: owner.organizationId! })
    const { id } = await seedCampaign(graph, { brandId: place })
    const listed = async (archived: boolean) =>
      (
        await graph.execute(
          'query($id: ID!, $archived: Boolean) { campaigns(brandId: $id, archived: $archived) { nodes { id } } }',
          { id: place, archived },
          { as: owner },
        )
      ).data().campaigns.nodes
    ;(await verb('archiveCampaign', { id })).data()
    expect([await listed(false), await listed(true)]).toEqual([[], [{ id }]])
    expect((await verb('archiveCampaign', { id })).data().archiveCampaign.version, 'again').toBe(2)
    ;(await verb('restoreCampaign', { id })).data()
    expect([await listed(false), await listed(true)]).toEqual([[{ id }], []])
    await graph.rows('update publishing.brands set archived_at = $2 where id = $1', [place, graph.clock.now()])
    expect((await verb('updateCampaign', { id, name: 'New' })).refused('CONFLICT').extensions.reason).toBe('BRAND_ARCHIVED')
  })

  test('of another organization is not found by any operation', async () => {
    const { id } = await seedCampaign(graph, { brandId })
    for (const name of ['updateCampaign', 'archiveCampaign', 'restoreCampaign', 'deleteCampaign']) (await verb(name, { id }, outsider)).refused('NOT_FOUND')
    expect((await read(id)).version).toBe(1)
  })
})
