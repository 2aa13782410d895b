/**
 * Program that measures stores on the run's database, with sequential work. Arguments: `bare` for a prepared statement
 * of pg on its own connection, `read` for the same read through loader and store, `page` for fifty posts through the
 * store, `create` for the mutation createPost through the engine.
 */
import pg from 'pg'
import { readPage } from '../../platform/page.ts'
import { selectList } from '../../platform/sql/table.ts'
import { Work } from '../../router/engine/work.ts'
import { brands } from '../../subgraphs/publishing/stores/brand.ts'
import { newestFirst } from '../../subgraphs/publishing/stores/post.ts'
import { supergraph } from '../../test/kit/supergraph.ts'
import { takeTurns } from '../turns.mjs'

const graph = await supergraph({ quotas: { postsADay: 1_000_000 } })
const { owner, brand } = await graph.seed.owner().brand('Bench').posts(50)
const { publishing } = graph.platform

const operation = () => new Work('bench', undefined, undefined, () => performance.now())
const name = (row: { name: string } | null | undefined) => row?.name ?? ''

const client = new pg.Client(graph.database.url)
await client.connect()
const prepared = { name: 'brand', text: `select ${selectList(brands, 't')} from publishing.brands t where t.id = any($1::uuid[]) and t.organization_id = $2` }

const works: Readonly<Record<string, () => Promise<string>>> = {
  bare: async () => name((await client.query<{ name: string }>({ ...prepared, values: [[brand.id], owner.organizationId] })).rows[0]),
  read: async () => name(await publishing.open(owner, operation()).brands.byId.load(brand.id)),
  async page() {
    const { posts } = publishing.open(owner, operation())
    const { nodes } = await posts.filtered({ organizationId: owner.organizationId! }, readPage({ first: 50 }, newestFirst))
    return String(nodes.length)
  },
  async create() {
    const document = 'mutation($input: CreatePostInput!) { createPost(input: $input) { status } }'
    return (await graph.execute(document, { input: { brandId: brand.id, platform: 'X', copy: 'A post' } }, { as: owner })).data().createPost.status
  },
}
const work = works[process.argv[2]!]!
for (let runs = 0; runs < 3; runs++) await work()
const statements = (await graph.statements(work)).length
await takeTurns(work, { answer: String(statements) })
