import { describe, expect, it, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { openRouter } from '../door/platform.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { seedProfile } from '../subgraphs/agents/person-profile/seed.ts'

/** Profiles of one person, each with so many sources of 200,000 characters. */
async function texts(graph: Supergraph, { profiles, sources }: { profiles: number; sources: number }) {
  const { owner } = await graph.seed.owner()
  for (let made = 0; made < profiles; made += 1) {
    const { id } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
    const values = [id, graph.clock.now(), sources]
    await graph.rows(
      `with made as (
         insert into agents.profile_sources (profile_id, id, kind, title, content_hash, status, created_at, updated_at, created_by)
         select $1, gen_random_uuid(), 'POST', 'x', 'sha256:' || repeat('0', 64), 'READY', $2, $2, 'user:x' from generate_series(1, $3) returning id)
       insert into agents.profile_texts (profile_id, source_id, text) select $1, id, repeat('four', 50000) from made`,
      values,
    )
  }
  return owner
}

const nested = '{ personProfiles(first: 100) { nodes { sources(first: 100) { nodes { text } } } } }'

test('long texts below many lists are refused once they are too much, and hardly more of them is read', async () => {
  // Where they may cost what they cost: the estimate would refuse them before.
  await using graph = await supergraph({ running: { remote: { ...readConfig({}).remote, maxCost: 999_999_999 } } })
  const owner = await texts(graph, { profiles: 10, sources: 99 })
  const statements = await graph.statements(async () => {
    expect((await graph.execute(nested, {}, { as: owner })).refused('OPERATION_TOO_EXPENSIVE').message).toMatch('more than 40 MiB of text')
  })
  // Ten a statement, which are four MiB: ten of them are as much as one operation may hold, and four go at a time.
  const { length } = statements.filter(text => text.includes('agents.profile_texts'))
  expect(length, `${length} statements`).toBeLessThanOrEqual(10 + 4)
})

test('styles below many lists count their size, and are read a few profiles at a time', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  for (let made = 0; made < 12; made += 1) {
    const { id } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
    await graph.rows(
      `insert into agents.style_snapshots (profile_id, id, number, source_ids, writing_style, speaking_style, measures, digest, created_at, updated_at, created_by)
       select profile_id, gen_random_uuid(), n, source_ids, writing_style || jsonb_build_object('tone', repeat('warm', 15000)), speaking_style, measures, digest, created_at, updated_at, created_by
         from agents.style_snapshots, generate_series(2, 100) n where profile_id = $1 and number = 1`,
      [id],
    )
  }
  const statements = await graph.statements(async () => {
    const asked = '{ personProfiles(first: 100) { nodes { snapshots(first: 100) { nodes { number } } } } }'
    expect((await graph.execute(asked, {}, { as: owner })).refused('OPERATION_TOO_EXPENSIVE').message).toMatch('more than 40 MiB of text')
  })
  // Twelve pages of a hundred and one, four in a statement; what is not sent before it is too much is not sent.
  const { length } = statements.filter(text => text.includes('from agents.style_snapshots t'))
  expect([1, 2, 3]).toContain(length)
})

describe('sixteen concurrent operations with long texts', () => {
  it('are answered up to their caller’s limit, and else 429, while another organization is answered', async () => {
    await using graph = await supergraph()
    const [evil, polite] = [await texts(graph, { profiles: 1, sources: 70 }), await texts(graph, { profiles: 1, sources: 2 })]
    await using router = await openRouter(graph.platform.engine)
    const headersOf = async (name: string, { userId, organizationId }: typeof evil) => {
      router.signIn(name, { userId: userId!, organizationId: organizationId!, roles: ['owner'] })
      return { authorization: `Bearer ${await router.token(name)}` }
    }
    const [hostile, friendly] = [await headersOf('evil', evil), await headersOf('polite', polite)]
    const ask = (headers: Record<string, string>) => router.gql('{ personProfiles(first: 1) { nodes { sources(first: 100) { nodes { text } } } } }', headers)
    expect((await ask(friendly)).json.errors).toBeUndefined()
    const asked = Promise.all(Array.from({ length: 16 }, () => ask(hostile)))
    const meanwhile = [await ask(friendly), await ask(friendly), await ask(friendly)]
    const answers = await asked
    expect(meanwhile.map(({ status, json }) => [status, json.errors])).toEqual(meanwhile.map(() => [200, undefined]))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.length - refused.length).toBeGreaterThan(0)
    for (const { status, headers, json } of answers) {
      if (status === 200) expect(json.errors).toBeUndefined()
      else expect([headers['retry-after'], json.data ?? null, json.errors[0].extensions.code]).toEqual([expect.stringMatching(/^[15]$/), null, 'RATE_LIMITED'])
    }
    // No memory is held any more: a single request is answered again.
    expect((await ask(hostile)).json.errors).toBeUndefined()
  })
})
