import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const compose = `mutation($input: ComposePostsInput!) { composePosts(input: $input) { groupId posts { id platform copy title link visibility tags status groupId firstComment { text status } } } }`
const check = `query($input: ComposePostsInput!) { postChecks(input: $input) { platform length maxLength problems { severity code field } } }`
const create = `mutation($input: CreatePostInput!) { createPost(input: $input) { id status problems { severity code } } }`

const composed = async (as: Viewer, input: object) => (await graph.execute(compose, { input }, { as })).data().composePosts
const checked = async (as: Viewer, input: object) => (await graph.execute(check, { input }, { as })).data().postChecks
const howMany = async (brandId: string) =>
  (await graph.rows<{ count: number }>('select count(*)::int as count from publishing.posts where brand_id = $1', [brandId]))[0]!.count
const later = () => graph.clock.in(3_600_000).toISOString()

describe('posts that are composed', () => {
  test('creates one post for each network in one group, with the network’s own fields, in the order of the networks', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const { groupId, posts } = await composed(owner, {
      brandId: brand.id,
      platforms: ['X', 'FACEBOOK', 'YOUTUBE'],
      copy: 'Everywhere',
      title: 'A title',
      link: 'https://example.test/a',
      tags: ['one', ' one ', 'two'],
      visibility: 'UNLISTED',
      firstComment: 'First!',
      overrides: [
        { platform: 'X', copy: 'On X', firstComment: null },
        { platform: 'YOUTUBE', title: 'The film', firstComment: null },
      ],
    })
    const common = { groupId, status: 'DRAFT', tags: ['one', 'two'], link: 'https://example.test/a' }
    expect(posts).toMatchObject([
      { ...common, platform: 'X', copy: 'On X', visibility: null, firstComment: null, title: 'A title' },
      { ...common, platform: 'FACEBOOK', copy: 'Everywhere', visibility: null, firstComment: { text: 'First!', status: 'PENDING' } },
      { ...common, platform: 'YOUTUBE', copy: 'Everywhere', visibility: 'UNLISTED', title: 'The film' },
    ])
    const listed = await graph.execute('query($id: ID!) { posts(groupId: $id) { totalCount } }', { id: groupId }, { as: owner })
    expect(listed.data().posts.totalCount).toBe(3)
  })

  test('creates them once for one key, and returns their present state', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const input = { brandId: brand.id, platforms: ['X', 'LINKEDIN'], copy: 'Once', idempotencyKey: 'composed' }
    const [one, two] = await Promise.all([composed(owner, input), composed(owner, input)])
    expect(two).toEqual(one)
    expect(await howMany(brand.id)).toBe(2)
    ;(await graph.execute(compose, { input: { ...input, copy: 'Twice' } }, { as: owner })).refused('CONFLICT')
  })

  test('creates all or none when one of them cannot be sent at its time, while drafts may be incomplete', async () => {
    const { owner, brand } = await graph.seed.owner().brand().connection()
    const input = { brandId: brand.id, platforms: ['X', 'INSTAGRAM'], copy: 'Text alone' }
    const refused = (await graph.execute(compose, { input: { ...input, scheduledAt: later() } }, { as: owner })).refused('BAD_USER_INPUT')
    expect(refused.extensions.problems).toContainEqual(expect.objectContaining({ severity: 'ERROR', code: 'MEDIA_MISSING', field: 'media' }))
    expect(await howMany(brand.id)).toBe(0)
    expect((await composed(owner, input)).posts).toHaveLength(2)
    const draft = (await graph.execute(create, { input: { brandId: brand.id, platform: 'INSTAGRAM', copy: 'Text alone' } }, { as: owner })).data().createPost
    expect(draft).toMatchObject({ status: 'DRAFT', problems: expect.arrayContaining([{ severity: 'ERROR', code: 'MEDIA_MISSING' }]) })
  })

  test('is rejected with every network’s problems when the posts cannot be sent at their time', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const input = { brandId: brand.id, platforms: ['X', 'INSTAGRAM', 'LINKEDIN'], copy: 'x'.repeat(300), scheduledAt: later() }
    const { extensions } = (await graph.execute(compose, { input }, { as: owner })).refused('BAD_USER_INPUT')
    const errors = (extensions.problems as { platform: string; severity: string; code: string }[]).filter(({ severity }) => severity === 'ERROR')
    expect(errors.map(({ platform, code }) => [platform, code])).toEqual([
      ['X', 'COPY_TOO_LONG'],
      ['INSTAGRAM', 'MEDIA_MISSING'],
    ])
  })

  test.each([
    ['platforms', { platforms: [] }],
    ['platforms', { platforms: ['X', 'X'] }],
    ['overrides', { overrides: [{ platform: 'FACEBOOK', copy: 'x' }] }],
    ['overrides', { overrides: [{ platform: 'X' }, { platform: 'X' }] }],
    ['visibility', { overrides: [{ platform: 'X', visibility: 'PRIVATE' }] }],
    ['tags', { tags: Array.from({ length: 21 }, (_, n) => `tag ${n}`) }],
    ['tags', { tags: ['x'.repeat(51)] }],
    ['title', { title: 'x'.repeat(101) }],
    ['title', { title: 'two\nlines' }],
    ['link', { link: 'ftp://example.test/a' }],
    ['firstComment', { firstComment: 'x'.repeat(2_001) }],
  ])('are refused with what is wrong: %s', async (field, changes) => {
    const { owner, brand } = await graph.seed.owner().brand()
    const input = { brandId: brand.id, platforms: ['X'], copy: 'Hello', ...changes }
    expect((await graph.execute(compose, { input }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect(await howMany(brand.id)).toBe(0)
  })
})

describe('a campaign of another brand or organization', () => {
  const createCampaign = 'mutation ($input: CreateCampaignInput!) { createCampaign(input: $input) { id } }'
  const update = 'mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }'

  test('is NOT_FOUND for every operation that writes or reads a post, and nothing is written', async () => {
    const story = graph.seed.owner().outsider().brand()
    const { owner, outsider, brand } = await story.post()
    const { brand: sibling } = await story.brand('Sibling')
    const theirs = (await graph.execute('mutation { createBrand(input: { name: "Theirs" }) { id } }', {}, { as: outsider })).data().createBrand
    const campaign = async (brandId: string, as: Viewer) =>
      (await graph.execute(createCampaign, { input: { brandId, name: 'Spring' } }, { as })).data().createCampaign.id as string
    const [own, siblings, strange] = [await campaign(brand.id, owner), await campaign(sibling.id, owner), await campaign(theirs.id, outsider)]
    const { posts } = (await graph.execute('query($id: ID!) { posts(brandId: $id) { nodes { id } } }', { id: brand.id }, { as: owner })).data()
    const [{ id }] = posts.nodes
    const before = await howMany(brand.id)
    for (const campaignId of [siblings, strange]) {
      const draft = { brandId: brand.id, platform: 'X', copy: 'Hello', campaignId }
      const composition = { brandId: brand.id, platforms: ['X', 'LINKEDIN'], copy: 'Hello', campaignId }
      const words = [
        (await graph.execute(create, { input: draft }, { as: owner })).refused('NOT_FOUND'),
        (await graph.execute(update, { input: { id, campaignId } }, { as: owner })).refused('NOT_FOUND'),
        (await graph.execute(compose, { input: composition }, { as: owner })).refused('NOT_FOUND'),
        (await graph.execute(check, { input: composition }, { as: owner })).refused('NOT_FOUND'),
      ].map(({ message }) => message.replace(campaignId, 'ID'))
      expect(new Set(words).size).toBe(1)
    }
    expect(await howMany(brand.id)).toBe(before)
    expect((await graph.execute(update, { input: { id, campaignId: own } }, { as: owner })).data().updatePost).toEqual({ id })
  })
})

describe('checking a post', () => {
  test('counts like each network, and lists what it would reject, without writing anything', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const text = `ab https://example.com/${'x'.repeat(50)} 日本👍`
    const checks = await checked(owner, { brandId: brand.id, platforms: ['X', 'THREADS', 'INSTAGRAM', 'YOUTUBE'], copy: text })
    expect(checks.map(({ platform, length }: { platform: string; length: number }) => [platform, length]).slice(0, 2)).toEqual([
      ['X', 33],
      ['THREADS', 80],
    ])
    expect(checks[0].maxLength).toBe(280)
    expect(checks[0].problems).toEqual([{ severity: 'WARNING', code: 'NO_CONNECTION', field: 'platform' }])
    expect(checks[2].problems).toContainEqual({ severity: 'ERROR', code: 'MEDIA_MISSING', field: 'media' })
    expect(checks[3].problems).toContainEqual({ severity: 'ERROR', code: 'TITLE_MISSING', field: 'title' })
    expect(await howMany(brand.id)).toBe(0)
  })

  test('warns of the same text for the same place within a week, ignoring case and white space, and of no others', async () => {
    const story = graph.seed
      .owner()
      .brand('First')
      .post({ copy: 'Said  before', scheduledAt: graph.clock.in(3 * 86_400_000) })
    const { owner, brand, post } = await story
    const codes = async (input: object) => {
      const [{ problems }] = await checked(owner, { brandId: brand.id, platforms: ['X'], ...input })
      return problems.map(({ code }: { code: string }) => code)
    }
    expect(await codes({ copy: '  SAID before\n' })).toContain('DUPLICATE')
    expect(await codes({ copy: 'Said before', scheduledAt: graph.clock.in(11 * 86_400_000).toISOString() })).not.toContain('DUPLICATE')
    expect(await codes({ copy: 'Said before, too' })).not.toContain('DUPLICATE')
    expect(await codes({ copy: 'Said before', platforms: ['LINKEDIN'] })).not.toContain('DUPLICATE')
    const { brand: second } = await story.brand('Second')
    expect(await codes({ copy: 'Said before', brandId: second.id })).not.toContain('DUPLICATE')
    // A post is no repetition of itself.
    const read = await graph.execute('query($id: ID!) { post(id: $id) { problems { code } } }', { id: post.id }, { as: owner })
    expect(read.data().post.problems).toEqual([{ code: 'NO_CONNECTION' }])
    const onPage = (externalId: string) => ({ platforms: ['FACEBOOK'], overrides: [{ platform: 'FACEBOOK', target: { kind: 'PAGE', externalId } }] })
    const page = JSON.stringify({ kind: 'PAGE', externalId: '1', name: null })
    await graph.rows(`update publishing.posts set platform = 'FACEBOOK', target = $2::jsonb where id = $1`, [post.id, page])
    expect(await codes({ copy: 'Said before', ...onPage('1') })).toContain('DUPLICATE')
    expect(await codes({ copy: 'Said before', ...onPage('2') }), 'another place has other readers').not.toContain('DUPLICATE')
    await graph.rows(`update publishing.posts set status = 'DRAFT', scheduled_at = null where id = $1`, [post.id])
    expect(await codes({ copy: 'Said before', ...onPage('1') })).not.toContain('DUPLICATE')
  })

  test('costs as many statements for fifty posts as for five', async () => {
    const { owner, brand } = await graph.seed.owner().brand().posts(50)
    const list = (first: number) => async () =>
      void (
        await graph.execute(
          'query($id: ID!, $first: Int) { posts(brandId: $id, first: $first) { nodes { problems { code } approvalEvents { action } thread { title status } firstComment { text } } } }',
          { id: brand.id, first },
          { as: owner },
        )
      ).data()
    const few = await graph.statements(list(5))
    const many = await graph.statements(list(50))
    // What is read by so many posts at a time takes some more.
    expect(many.length).toBeLessThanOrEqual(few.length + 6)
  })
})
