import {
  buildASTSchema,
  type ConstDirectiveNode,
  defaultFieldResolver,
  type ExecutionResult,
  execute,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isScalarType,
  parse,
  printSchema,
  valueFromASTUntyped,
} from 'graphql'
import { DomainError } from '../../platform/errors.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { unbounded } from '../kit/reading.ts'

/** A value with the subgraph that it came from. */
interface Held {
  readonly slug: string
  readonly value: unknown
}

interface Asking {
  readonly viewer: Viewer
  readonly contexts: Map<string, object>
  readonly references: Map<string, unknown>
}

type Resolve = (source: unknown, args: unknown, context: unknown, info: GraphQLResolveInfo) => unknown
type Reference = (reference: object, context: unknown, info: GraphQLResolveInfo) => unknown

/**
 * Whether a viewer may have a field, read from what the subgraphs say themselves: every directive on the field and on the type that it
 * leads to must be met, wherever it is written. (The specification of @authenticated, @requiresScopes and @policy, for a graph
 * without rules on interfaces and unions.)
 */
function mayRead(subgraphs: readonly Subgraph[], typeName: string, fieldName: string, viewer: Viewer): boolean {
  return subgraphs.every(({ schema }) => {
    const type = schema.getType(typeName)
    const field = isObjectType(type) ? type.getFields()[fieldName] : undefined
    const target = field && schema.getType(getNamedType(field.type).name)
    const written = [field?.astNode, target?.astNode, ...(target?.extensionASTNodes ?? [])]
    const elsewhere = target
      ? subgraphs.map(other => other.schema.getType(target.name)).flatMap(each => [each?.astNode, ...(each?.extensionASTNodes ?? [])])
      : []
    return [...written, ...elsewhere].flatMap(node => node?.directives ?? []).every(directive => isMet(directive, viewer))
  })
}

function isMet({ name, arguments: given }: ConstDirectiveNode, viewer: Viewer): boolean {
  const lists = () => valueFromASTUntyped(given![0]!.value) as readonly (readonly string[])[]
  switch (name.value.replace(/^.*__/, '')) {
    case 'authenticated':
      return viewer.kind !== 'anonymous'
    case 'requiresScopes':
      return lists().some(all => all.every(scope => viewer.scopes.includes(scope)))
    case 'policy':
      return lists().some(all => all.every(policy => policies[policy]!(viewer)))
  }
  return true
}

const policies: Readonly<Record<string, (viewer: Viewer) => boolean>> = {
  person: ({ kind, clientId }) => kind === 'user' && clientId === null,
  service: ({ kind }) => kind === 'service',
  organization_admin: ({ kind, clientId, roles }) => kind === 'user' && clientId === null && (roles.includes('owner') || roles.includes('admin')),
  platform_admin: ({ kind, roles }) => kind === 'user' && roles.some(role => role.startsWith('platform_')),
  platform_super_admin: ({ kind, roles }) => kind === 'user' && roles.includes('platform_super_admin'),
}

/**
 * The platform as one graphql-js schema: each field is resolved by the subgraph that has it, with one context a subgraph, and an entity
 * that another subgraph answered is fetched by its key. No plan, no fetch documents, no merging: the answer that federation has to give.
 */
export function platformOracle(schema: GraphQLSchema, subgraphs: readonly Subgraph[]) {
  const bySlug = new Map(subgraphs.map(subgraph => [subgraph.registration.slug as string, subgraph]))
  const whole = buildASTSchema(parse(printSchema(schema)))
  const fieldIn = (slug: string, type: string, field: string) => {
    const found = bySlug.get(slug)!.schema.getType(type)
    return isObjectType(found) ? found.getFields()[field] : undefined
  }
  const contextOf = (asking: Asking, slug: string) => {
    const known = asking.contexts.get(slug) ?? bySlug.get(slug)!.open(asking.viewer, { requestId: 'whole', ...unbounded })
    asking.contexts.set(slug, known)
    return known
  }

  async function entityIn(slug: string, type: string, held: Held, asking: Asking, info: GraphQLResolveInfo): Promise<unknown> {
    const own = fieldIn(held.slug, type, 'id')!
    const id = await ((own.resolve ?? defaultFieldResolver) as Resolve)(held.value, {}, contextOf(asking, held.slug), { ...info, fieldName: 'id' })
    const key = `${slug} ${type} ${String(id)}`
    if (!asking.references.has(key)) {
      const found = bySlug.get(slug)!.schema.getType(type) as GraphQLObjectType
      const { apollo } = found.extensions as { apollo?: { subgraph?: { resolveReference?: Reference } } }
      const resolveReference = apollo?.subgraph?.resolveReference
      const reference = { __typename: type, id }
      asking.references.set(key, resolveReference ? resolveReference(reference, contextOf(asking, slug), info) : reference)
    }
    return asking.references.get(key)
  }

  const hold = async (value: unknown, slug: string, type: GraphQLOutputType): Promise<unknown> => {
    const found = await value
    if (isLeafType(getNamedType(type)) || found === null || found === undefined) return found
    if (Array.isArray(found)) return Promise.all(found.map(each => hold(each, slug, type)))
    return { slug, value: found } satisfies Held
  }

  const resolverOf = (type: GraphQLObjectType, name: string, isRoot: boolean) => {
    const owners = [...bySlug.keys()].filter(slug => fieldIn(slug, type.name, name))
    return async (source: Held | undefined, args: unknown, asking: Asking, info: GraphQLResolveInfo) => {
      if (!mayRead(subgraphs, type.name, name, asking.viewer)) throw new DomainError('FORBIDDEN', `Not for this viewer: ${type.name}.${name}`)
      const slug = !isRoot && owners.includes(source!.slug) ? source!.slug : owners[0]!
      const own = isRoot ? undefined : slug === source!.slug ? source!.value : await entityIn(slug, type.name, source!, asking, info)
      if (own === null) return null
      const resolve = (fieldIn(slug, type.name, name)!.resolve ?? defaultFieldResolver) as Resolve
      return hold(resolve(own, args, contextOf(asking, slug), info), slug, info.returnType)
    }
  }

  for (const type of Object.values(whole.getTypeMap())) {
    if (type.name.startsWith('__')) continue
    const originals = subgraphs.map(subgraph => subgraph.schema.getType(type.name)).filter(each => each !== undefined)
    if (isScalarType(type)) {
      const original = originals.find(isScalarType)
      if (original) Object.assign(type, { serialize: original.serialize, parseValue: original.parseValue, parseLiteral: original.parseLiteral })
    } else if (isAbstractType(type)) {
      type.resolveType = ({ slug, value }: Held, _asking, info) => {
        const original = bySlug.get(slug)!.schema.getType(type.name)
        const named = isAbstractType(original) ? original.resolveType?.(value, {}, info, original) : undefined
        return (named as string | undefined) ?? (value as { __typename: string }).__typename
      }
    } else if (isObjectType(type)) {
      const isRoot = type === whole.getQueryType()
      for (const field of Object.values(type.getFields())) field.resolve = resolverOf(type, field.name, isRoot) as NonNullable<typeof field.resolve>
    }
  }
  return {
    run: async (source: string, variableValues: Record<string, unknown>, viewer: Viewer): Promise<ExecutionResult> =>
      execute({
        schema: whole,
        document: parse(source),
        variableValues,
        contextValue: { viewer, contexts: new Map(), references: new Map() } satisfies Asking,
      }),
  }
}
