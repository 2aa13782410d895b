import { readFileSync } from 'node:fs'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { type DocumentNode, type GraphQLResolveInfo, type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType, parse, valueFromAST } from 'graphql'
import { DomainError } from '../../platform/errors.ts'
import { toldAsWait } from '../../platform/sql/wait.ts'
import { scalars } from '../scalars.ts'
import type { Slug } from '../scopes.ts'
import type { Operation } from '../subgraph.ts'

type Resolver = (...args: never[]) => unknown

/**
 * Wraps a resolver so that waiting too long is reported as such. A synchronous result stays synchronous, because most
 * fields are only read.
 */
const patient =
  (resolve: Resolver): Resolver =>
  (...args) => {
    try {
      return settled(resolve(...args))
    } catch (error) {
      return rethrow(error)
    }
  }

/**
 * Wraps a reference resolver in the same way; an error fails only its own entity. If it were thrown, promises of
 * earlier entities would reject unhandled.
 */
const patientReference =
  (resolve: Resolver): Resolver =>
  (...args) => {
    try {
      return settled(resolve(...args))
    } catch (error) {
      return Promise.reject(toldAsWait(error))
    }
  }

const settled = (answer: unknown) => (answer instanceof Promise ? answer.catch(rethrow) : answer)

function rethrow(error: unknown): never {
  throw toldAsWait(error)
}

/**
 * Notes the response name of a mutation that was answered with an earlier result of the same idempotency key. Mutations
 * of one operation run one after another, so the operation tracks one at a time.
 */
const noting =
  (resolve: Resolver): Resolver =>
  async (...args) => {
    const [, , { operation }, { fieldName, fieldNodes }] = args as unknown as [unknown, unknown, { operation?: Operation | null }, GraphQLResolveInfo]
    if (operation) operation.isReplay = false
    const answer = await resolve(...args)
    if (operation?.isReplay) {
      operation.replayed ??= []
      operation.replayed.push(fieldNodes[0]?.alias?.value ?? fieldName)
    }
    return answer
  }

/** A noun's resolvers by type and field. */
export type ResolverMap = Readonly<Record<string, object | undefined>>

/** Keys of a type's resolvers that are not fields: type resolution, and entity lookup. */
const ways: ReadonlySet<string> = new Set(['__resolveReference', '__resolveType', '__isTypeOf'])

/** Whether a resolver may run statements. */
const mayWait = (field: string) => field !== '__resolveType' && field !== '__isTypeOf'

const waiting = (field: string) => (field === '__resolveReference' ? patientReference : patient)

const countOf = (page: { totalCount(): Promise<number> }) => page.totalCount()

const rootTypes = ['Query', 'Mutation', 'Subscription']

/**
 * Combines the resolvers of a subgraph's nouns with its composed SDL (`schema/subgraphs/<slug>.graphql`) into an
 * executable federation schema.
 * @param nouns each noun's resolvers from its `resolvers.ts`, by the noun's name
 * @throws Error when two nouns resolve the same field, a resolver has no field in the SDL, or a root field has no
 * resolver
 */
export function executableSchema(slug: Slug, nouns: Readonly<Record<string, ResolverMap>>): GraphQLSchema {
  const earlier = joined.get(slug)
  if (earlier && isSame(earlier.nouns, nouns)) return earlier.schema
  const schema = join(slug, nouns)
  joined.set(slug, { nouns, schema })
  return schema
}

/** Latest schema of each subgraph: several platforms in one process share it, because resolvers hold no state. */
const joined = new Map<Slug, { readonly nouns: Readonly<Record<string, ResolverMap>>; readonly schema: GraphQLSchema }>()

const isSame = (one: Readonly<Record<string, ResolverMap>>, other: Readonly<Record<string, ResolverMap>>): boolean => {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every(name => one[name] === other[name])
}

function join(slug: Slug, nouns: Readonly<Record<string, ResolverMap>>): GraphQLSchema {
  const typeDefs = parse(readFileSync(new URL(`../../schema/subgraphs/${slug}.graphql`, import.meta.url), 'utf8'))
  const declared = fieldsByType(typeDefs)
  const merged: Record<string, Record<string, unknown>> = {}
  const resolvedBy = new Map<string, string>()
  for (const [noun, resolvers] of Object.entries(nouns))
    for (const [type, fields] of Object.entries(resolvers)) {
      const file = `subgraphs/${slug}/${noun}/resolvers.ts`
      const known = declared.get(type)
      if (!known) throw new Error(`${file} resolves ${type}, which is no type of its SDL: correct the name, or add the type to a schema.graphql`)
      const present = merged[type] ?? {}
      merged[type] = present
      for (const [field, resolver] of Object.entries(fields ?? {})) {
        const coordinate = `${type}.${field}`
        const other = resolvedBy.get(coordinate)
        if (other) throw new Error(`${coordinate} is resolved by two nouns of ${slug}, ${other} and ${noun}: keep one`)
        if (!known.has(field) && !ways.has(field))
          throw new Error(`${file} resolves ${coordinate}, which is no field of its SDL: correct the name, or add the field to a schema.graphql`)
        resolvedBy.set(coordinate, noun)
        const called = type === 'Mutation' && typeof resolver === 'function' ? noting(resolver as Resolver) : resolver
        present[field] = typeof called === 'function' && mayWait(field) ? waiting(field)(called as Resolver) : called
      }
    }
  // A page counts its list only for who asks.
  for (const [type, fields] of declared) if (fields.has('nodes') && fields.has('totalCount')) merged[type] ??= { totalCount: countOf }
  for (const type of rootTypes)
    for (const field of declared.get(type) ?? [])
      if (!resolvedBy.has(`${type}.${field}`)) throw new Error(`${type}.${field} has no resolver in subgraphs/${slug}: it would answer null to everybody`)
  const scalarsInUse = Object.fromEntries(Object.entries(scalars).filter(([name]) => declared.has(name)))
  return withKnownEntities(withDefaults(buildSubgraphSchema([{ typeDefs, resolvers: { ...merged, ...scalarsInUse } as never }])))
}

/**
 * Rejects representations of unknown types before any entity is looked up: the library throws only when it reaches one,
 * and the promises of earlier entities would reject unhandled, which ends the process.
 */
function withKnownEntities(schema: GraphQLSchema): GraphQLSchema {
  const entities = schema.getQueryType()?.getFields()._entities
  const find = entities?.resolve
  if (!find) return schema
  entities.resolve = (source, args: { readonly representations: readonly unknown[] }, context, info) => {
    for (const each of args.representations) {
      const { __typename: name } = (each ?? {}) as { readonly __typename?: unknown }
      const type = typeof name === 'string' ? schema.getType(name) : undefined
      if (!isObjectType(type) && !isInterfaceType(type))
        throw new DomainError('BAD_USER_INPUT', `${String(name).slice(0, 100)} is no entity of this subgraph: another version of it may know it.`)
    }
    return find(source, args, context, info)
  }
  return schema
}

/**
 * Parses the default values of arguments and inputs with our scalars: the library parsed them before our scalars were
 * attached.
 */
function withDefaults(schema: GraphQLSchema): GraphQLSchema {
  const types = Object.values(schema.getTypeMap())
  const inputs = types.filter(isInputObjectType).flatMap(type => Object.values(type.getFields()))
  const taken = types.filter(isObjectType).flatMap(type => Object.values(type.getFields()).flatMap(({ args }) => args))
  for (const each of [...inputs, ...taken]) if (each.astNode?.defaultValue) each.defaultValue = valueFromAST(each.astNode.defaultValue, each.type)
  return schema
}

/** Returns the types that SDL declares, each with its fields or values, extensions included. */
function fieldsByType({ definitions }: DocumentNode): ReadonlyMap<string, ReadonlySet<string>> {
  const declared = new Map<string, Set<string>>()
  for (const node of definitions) {
    if (!('name' in node) || !node.name) continue
    const fields = declared.get(node.name.value) ?? new Set<string>()
    declared.set(node.name.value, fields)
    for (const field of 'fields' in node ? (node.fields ?? []) : 'values' in node ? (node.values ?? []) : []) fields.add(field.name.value)
  }
  return declared
}
