import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { createProfileSource, profileSource } from '../documents.ts'
import { seedProfile } from '../person-profile/seed.ts'

const profileOf = async (graph: Supergraph, { organizationId, userId }: Viewer) =>
  (await seedProfile(graph, { organizationId: organizationId!, subjectId: userId! })).id
const add = (graph: Supergraph, as: Viewer, personProfileId: string, more: object = {}) =>
  graph.execute(createProfileSource, { input: { personProfileId, kind: 'INTERVIEW', title: 'A talk', ...more } }, { as })

describe('A-05 a source is added', () => {
  test('as a text, which keeps its every character and its hash as UTF-8, is READY at once, and is on record', async () => {
    await using graph = await supergraph()
    const { owner, member } = await graph.seed.owner().member()
    const id = await profileOf(graph, member)
    const text = '  Größe – 日本\n\n“Yes.”  '
    const { createProfileSource: made } = (await add(graph, owner, id, { text, language: 'de-AT' })).data()
    expect(made).toEqual({
      id: made.id,
      profile: { id },
      kind: 'INTERVIEW',
      title: 'A talk',
      url: null,
      text,
      contentHash: `sha256:${createHash('sha256').update(text).digest('hex')}`,
      language: 'de-AT',
      status: 'READY',
      failure: null,
      capturedBy: { id: owner.userId },
      capturedAt: graph.clock.now().toISOString(),
    })
    expect((await graph.execute(profileSource, { id: made.id }, { as: member })).data().profileSource).toEqual(made)
    expect(await graph.rows('select actor, action, subject_id, details from agents.audit_entries')).toEqual([
      { actor: `user:${owner.userId}`, action: 'profile-source.created', subject_id: made.id, details: { profileId: id } },
    ])
  })

  test('once under one key, however many at once', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await profileOf(graph, owner)
    const made = await Promise.all(Array.from({ length: 8 }, async () => (await add(graph, owner, id, { text: 'One.', idempotencyKey: 'k' })).data()))
    expect(new Set(made.map(each => each.createProfileSource.id)).size).toBe(1)
    expect((await add(graph, owner, id, { text: 'Two.', idempotencyKey: 'k' })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  const refusing = shared(() => supergraph())
  test.each<[string, object, string]>([
    ['without text and address', {}, 'text'],
    ['with both', { text: 'Both.', url: 'https://page.test/' }, 'text'],
    ['without a word', { text: ' \n' }, 'text'],
    ['with 200,001 characters', { text: 'x'.repeat(200_001) }, 'text'],
    ['with a NUL', { text: 'a\0b' }, 'text'],
    ['without a title', { text: 'One.', title: '' }, 'title'],
    ['in no language', { text: 'One.', language: 'German!' }, 'language'],
    ['at an address of another kind', { url: 'file:///etc/passwd' }, 'url'],
    ['at an address with a password', { url: 'https://me:secret@page.test/' }, 'url'],
    ['of what is no id', { text: 'One.', personProfileId: 'nonsense' }, 'personProfileId'],
  ])('never %s', async (_, more, field) => {
    const graph = refusing()
    const { owner } = await graph.seed.owner()
    const id = await profileOf(graph, owner)
    expect((await add(graph, owner, id, more)).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect(await graph.rows('select count(*)::int as count from agents.profile_sources where profile_id = $1', [id])).toEqual([{ count: 1 }])
  })

  test('until the profile has 500, also when several are added at once', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const id = await profileOf(graph, owner)
    await graph.rows(
      `insert into agents.profile_sources (profile_id, id, kind, title, content_hash, status, created_at, updated_at, created_by)
       select $1, gen_random_uuid(), 'POST', 'x', 'sha256:' || repeat('0', 64), 'READY', $2, $2, 'user:x' from generate_series(1, 497)`,
      [id, graph.clock.now()],
    )
    const answers = await Promise.all(Array.from({ length: 6 }, () => add(graph, owner, id, { text: 'One more.' })))
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(2)
    for (const answer of answers.filter(({ code }) => code !== undefined)) expect(answer.refused('CONFLICT').extensions.reason).toBe('QUOTA')
  })

  test('until a person has added as many in a day as one may', async () => {
    await using graph = await supergraph({ quotas: { sourcesADay: 1 } })
    const { owner, member } = await graph.seed.owner().member()
    const id = await profileOf(graph, member)
    ;(await add(graph, owner, id, { text: 'One.' })).data()
    expect((await add(graph, owner, id, { text: 'Two.' })).refused('RATE_LIMITED').message).toMatch('sources that you added')
  })

  test('until a hundred addresses of one person wait to be fetched; texts and others are not held up by that', async () => {
    await using graph = await supergraph()
    const { owner, member } = await graph.seed.owner().member()
    const id = await profileOf(graph, member)
    await graph.rows(
      `insert into agents.profile_sources (profile_id, id, kind, title, url, status, fetch_at, created_at, updated_at, created_by)
       select $1, gen_random_uuid(), 'URL', 'x', 'https://page.test/', 'PROCESSING', $2, $3, $3, $4 from generate_series(1, 100)`,
      [id, graph.clock.in(3_600_000), graph.clock.in(-2 * 86_400_000), `user:${owner.userId}`],
    )
    const url = 'https://page.test/'
    expect((await add(graph, owner, id, { url })).refused('RATE_LIMITED').extensions.retryAfter).toBe(30)
    expect((await add(graph, owner, id, { text: 'A text.' })).data().createProfileSource.status).toBe('READY')
    expect((await add(graph, member, id, { url })).data().createProfileSource.status).toBe('PROCESSING')
  })
})
