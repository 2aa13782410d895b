import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { readAccessTable } from '../access/rules.ts'
import { routeTables } from '../rest/tables.ts'
import { openapiDocument } from './document.ts'

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

/** Describes the REST routes of the platform: out of its route tables, its graph, and exchanges that `test/rest/exchanges.test.ts` recorded. */
export function describePlatform(): ReturnType<typeof openapiDocument> {
  return openapiDocument({
    tables: routeTables,
    schema: buildSchema(read('schema/api.graphql'), { assumeValid: true, noLocation: true }),
    access: readAccessTable(read('schema/supergraph.graphql')),
    examples: JSON.parse(read('schema/rest-examples.json')),
    version: String(JSON.parse(read('package.json')).version),
  })
}
