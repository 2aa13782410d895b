import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObjectType } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { columnOf } from '../../platform/sql/table.ts'
import { keptBy } from '../kit/kept.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const root = join(import.meta.dirname, '..', '..')

/** The tables whose rows are handed from parent to field, by the convention that code generation goes by: `<Type>Row` for the type `<Type>`. */
const kept = globSync('subgraphs/*/stores/*.ts', { cwd: root }).flatMap(file =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^export type (\w+)Row = Row<typeof (\w+)>/gm)].map(([, type, table]) => ({
    slug: file.split('/')[1] as keyof typeof keptBy,
    type: type!,
    table: table!,
  })),
)

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph()
})
afterAll(() => graph[Symbol.asyncDispose]())

test('types of rows are found', () => {
  expect(kept.map(({ type }) => type)).toEqual(expect.arrayContaining(['Brand', 'Organization', 'Post', 'User']))
})

test.each(kept)('each field of a $type of $slug is a column of $table or has a resolver: otherwise it would always be null', async ({ slug, type, table }) => {
  const { schema } = graph.platform.subgraphs.find(({ registration }) => registration.slug === slug)!
  const { columns } = keptBy[slug].map(each => each.table).find(({ name }) => name === `${slug}.${columnOf(table)}`)!
  const object = schema.getType(type)
  const fields = isObjectType(object) ? Object.values(object.getFields()) : []
  expect(fields.filter(({ name, resolve }) => !resolve && !Object.hasOwn(columns, name)).map(({ name }) => name)).toEqual([])
})
