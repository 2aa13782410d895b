import { readFileSync } from 'node:fs'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { type GraphQLSchema, parse } from 'graphql'
import { Refusal } from '../platform/errors.ts'
import { scalars } from './scalars.ts'
import type { Slug } from './scopes.ts'

type Resolver = (...args: never[]) => unknown

/** SQLSTATEs of a statement that waited too long for somebody else: for a lock, or altogether; and of a transaction that stood still. */
const waitedTooLong = new Set(['55P03', '57014', '25P03'])

/** Tells a client whose change had to wait too long that it may try again, instead of calling it an accident. */
const patient =
  (resolve: Resolver): Resolver =>
  async (...args) => {
    try {
      return await resolve(...args)
    } catch (error) {
      const { name, parent } = error as { name?: string; parent?: { code?: string } }
      if (name !== 'SequelizeConnectionAcquireTimeoutError' && !waitedTooLong.has(parent?.code ?? '')) throw error
      throw new Refusal('RATE_LIMITED', 'Somebody else is changing this at the same time, and it took too long to wait: try again in a second.', {
        retryAfter: 1,
      })
    }
  }

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
        present[field] = type === 'Mutation' ? patient(resolver as Resolver) : resolver
      }
    }
  const typeDefs = parse(readFileSync(new URL(`../schema/subgraphs/${slug}.graphql`, import.meta.url), 'utf8'))
  const declared = new Set(typeDefs.definitions.flatMap(definition => ('name' in definition && definition.name ? [definition.name.value] : [])))
  const scalarsInUse = Object.fromEntries(Object.entries(scalars).filter(([name]) => declared.has(name)))
  return buildSubgraphSchema([{ typeDefs, resolvers: { ...merged, ...scalarsInUse } as never }])
}
