// The limit in process: one schema that holds everything, compiled with graphql-jit. No subgraphs, no plan.
import { buildASTSchema, parse } from 'graphql'
import { compileQuery } from 'graphql-jit'
import { monolith, query } from '../shop/graph.ts'
import { takeTurns } from '../turns.mjs'

const schema = buildASTSchema(parse(monolith.sdl))
for (const [type, fields] of Object.entries(monolith.resolvers)) {
  for (const [field, resolve] of Object.entries(fields)) schema.getType(type).getFields()[field].resolve = resolve
}
const compiled = compileQuery(schema, parse(query), 'Shop')

await takeTurns(async () => JSON.stringify(await compiled.query({}, {}, {})))
