import { readFileSync } from 'node:fs'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { type GraphQLSchema, parse } from 'graphql'
import { scalars } from './scalars.ts'
import type { Slug } from './scopes.ts'

/** What a noun contributes: resolvers by type and field. */
export type ResolverMap = Readonly<Record<string, object | undefined>>

/**
 * Joins the resolvers of a subgraph's nouns with its composed SDL (`schema/subgraphs/<slug>.graphql`) into a federation
 * schema that can be executed.
 * @throws Error when two nouns resolve the same field, or one resolves what the SDL does not have
 */
export function executableSchema(slug: Slug, nouns: readonly ResolverMap[]): GraphQLSchema {
  const merged: Record<string, Record<string, unknown>> = {}
  for (const noun of nouns)
    for (const [type, fields] of Object.entries(noun)) {
      const present = merged[type] ?? {}
      merged[type] = present
      for (const [field, resolver] of Object.entries(fields ?? {})) {
        if (Object.hasOwn(present, field)) throw new Error(`${type}.${field} is resolved by two nouns of ${slug}`)
        present[field] = resolver
      }
    }
  const typeDefs = parse(readFileSync(new URL(`../schema/subgraphs/${slug}.graphql`, import.meta.url), 'utf8'))
  const declared = new Set(typeDefs.definitions.flatMap(definition => ('name' in definition && definition.name ? [definition.name.value] : [])))
  const scalarsInUse = Object.fromEntries(Object.entries(scalars).filter(([name]) => declared.has(name)))
  return buildSubgraphSchema([{ typeDefs, resolvers: { ...merged, ...scalarsInUse } as never }])
}
