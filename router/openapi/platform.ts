import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { readAccessTable } from '../access/rules.ts'
import type { DerivedTable } from '../rest/derive/tables.ts'
import { routeTables } from '../rest/tables.ts'
import { describeRoutes, type OpenapiDocument, openapiDocument } from './document.ts'

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

/** Reads the document's other inputs: access rules, recorded exchanges, the program's version. */
const readBeside = () => ({
  access: readAccessTable(read('schema/supergraph.graphql')),
  examples: JSON.parse(read('schema/rest-examples.json')),
  version: String(JSON.parse(read('package.json')).version),
})

/** Describes the REST routes of the platform from the files of this project. */
export const describePlatform = (): ReturnType<typeof openapiDocument> =>
  openapiDocument({ tables: routeTables, schema: buildSchema(read('schema/api.graphql'), { assumeValid: true, noLocation: true }), ...readBeside() })

/** Describes the routes that a router serves, with the schema that it has loaded already. */
export const describeServed = (tables: readonly DerivedTable[], schema: GraphQLSchema): OpenapiDocument =>
  describeRoutes({ tables, schema, ...readBeside() }).document
