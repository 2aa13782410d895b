import pg from 'pg'
import { expect, it } from 'vitest'
import { planOf, rowsMet, statementsOf, waysOf } from '../../../kit/plans.ts'
import { supergraph } from '../../../kit/supergraph.ts'

it('finds passages with a misspelled word by the index, among 20,000 of the organization', { timeout: 120_000 }, async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner()
  await graph.rows(
    `insert into agents.knowledge_chunks (document_id, number, organization_id, source_id, visibility, version, "start", "end", text, search_config, search)
     select gen_random_uuid(), 0, $1, gen_random_uuid(), 'ORGANIZATION', 1, 0, 600, t.text, 'english', to_tsvector('english', t.text)
       from generate_series(1, 20000) n
       cross join lateral (select repeat(md5(n::text) || ' ', 20) || case when n % 4000 = 0 then 'the giraffe of number ' || n else 'the moon' end as text) t`,
    [owner.organizationId],
  )
  await graph.rows('analyze agents.knowledge_chunks')
  const client = new pg.Client({ connectionString: graph.database.url })
  await client.connect()
  try {
    const search = () => graph.execute('{ searchKnowledge(query: "girafe") { quote } }', {}, { as: owner })
    const asked = await statementsOf(search, /has_like_word/)
    expect(asked.length).toBeGreaterThan(0)
    for (const each of asked) {
      const plan = await planOf(client, each)
      expect(plan.nodes.map(node => node['Index Name']).filter(Boolean), waysOf(plan)).toContain('knowledge_chunks_by_parts')
      expect(rowsMet(plan), waysOf(plan)).toBeLessThan(100)
    }
  } finally {
    await client.end()
  }
})
