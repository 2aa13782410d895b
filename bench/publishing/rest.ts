import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSchema, print } from 'graphql'
import { deriveTables } from '../../router/rest/derive/tables.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { percentile } from '../load/load.ts'
import { median } from '../table.ts'
import { demoOwner, startPlatform } from './platform.ts'

/** Number of requests in a round, and of warm-up requests. */
const [each, warming] = [200, 300]

/**
 * Measures a thread of five posts, by REST and by the same operation in GraphQL, sequentially over one connection each.
 */
export async function measureRest({ rounds }: { readonly rounds: number }): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'bench-publishing-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const platform = await startPlatform(stack, { env: { DATA_DIR: folder, NODE_ENV: 'production' } })
  const { token, brandId, query } = await demoOwner(platform)
  const { createPostThread } = await query<{ createPostThread: { id: string } }>(
    'mutation($input: CreatePostThreadInput!) { createPostThread(input: $input) { id } }',
    {
      input: { brandId, platform: 'X', posts: Array.from({ length: 5 }, (_, n) => ({ copy: `Post ${n} of a thread` })) },
    },
  )
  const threadId = createPostThread.id
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
  const body = JSON.stringify({ query: postsOperation(), variables: { threadId } })
  const ways = {
    rest: () => fetch(`${platform.url}/publishing/api/posts?threadId=${threadId}`, { headers }),
    graphql: () => fetch(`${platform.url}/graphql`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }),
  }
  const ask = async (way: keyof typeof ways): Promise<number> => {
    const begin = performance.now()
    const answer = await ways[way]()
    const text = await answer.text()
    const took = performance.now() - begin
    if (answer.status !== 200 || text.split('of a thread').length !== 6) throw new Error(`${way} answered ${answer.status}: ${text.slice(0, 500)}`)
    return took
  }
  for (let count = 0; count < warming; count++) for (const way of ['rest', 'graphql'] as const) await ask(way)
  const p50 = { rest: [] as number[], graphql: [] as number[] }
  const p99 = { rest: [] as number[], graphql: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const times = { rest: [] as number[], graphql: [] as number[] }
    for (let count = 0; count < each; count++) for (const way of ['rest', 'graphql'] as const) times[way].push(await ask(way))
    for (const way of ['rest', 'graphql'] as const) {
      const sorted = Float64Array.from(times[way]).sort()
      p50[way].push(percentile(sorted, 0.5))
      p99[way].push(percentile(sorted, 0.99))
    }
  }
  const ratios = p50.rest.map((time, round) => time / p50.graphql[round]!).sort((a, b) => a - b)
  return `A thread of five posts, ${rounds} rounds of ${each} each, one after the other.

| | p50 ms | p99 ms |
| --- | --- | --- |
| GET /api/posts?threadId= | ${median(p50.rest).toFixed(2)} | ${median(p99.rest).toFixed(2)} |
| the same operation at /graphql | ${median(p50.graphql).toFixed(2)} | ${median(p99.graphql).toFixed(2)} |

p50, REST ÷ GraphQL: **${median(ratios).toFixed(2)}** [${ratios[0]!.toFixed(2)}-${ratios.at(-1)!.toFixed(2)}].`
}

/** The operation that `GET /publishing/api/posts` runs, as text. */
function postsOperation(): string {
  const schema = buildSchema(readFileSync(new URL('../../schema/api.graphql', import.meta.url), 'utf8'))
  const { tables } = deriveTables(routeTables, schema)
  const rows = tables.flatMap(({ rows }) => rows.flatMap(row => (row.kind === 'operation' ? [row] : [])))
  return print(rows.find(({ method, path }) => method === 'GET' && path === '/api/posts')!.operation)
}
