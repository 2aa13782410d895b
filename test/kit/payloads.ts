import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'

type Path = readonly (string | number)[]

export interface SentError {
  readonly message: string
  readonly path?: Path
  readonly extensions?: { readonly code?: string }
}

/** A payload of either form, as a client reads it. */
export interface SentPayload {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever its own operation selects
  readonly data?: any
  readonly errors?: readonly SentError[]
  readonly pending?: readonly { readonly id: string; readonly path: Path; readonly label?: string }[]
  readonly incremental?: readonly {
    readonly id?: string
    readonly subPath?: Path
    readonly path?: Path
    readonly label?: string
    // biome-ignore lint/suspicious/noExplicitAny: as above
    readonly data?: any
    readonly items?: readonly unknown[] | null
    readonly errors?: readonly SentError[]
  }[]
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly SentError[] }[]
  readonly hasNext?: boolean
  readonly extensions?: Readonly<Record<string, unknown>>
}

export interface Merged {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly data: any
  readonly errors: SentError[]
  /** Paths of the parts that became null as a whole. */
  readonly failed: Path[]
}

const at = (data: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, step) => (value && Object.hasOwn(value as object, step) ? (value as Record<string | number, unknown>)[step] : undefined), data)

/**
 * Merges the payloads of an incremental answer as a client does, and is strict about the protocol: a part has an object
 * to complete, an id is announced once and completed once, no field of the form v0.2 comes twice, and the last payload
 * alone says that nothing follows.
 */
export function mergePayloads(payloads: readonly SentPayload[]): Merged {
  const [first, ...later] = structuredClone(payloads) as SentPayload[]
  if (!first) throw new Error('no payload came')
  payloads.forEach(({ hasNext }, index) => {
    if (payloads.length > 1 && hasNext !== index < payloads.length - 1) throw new Error(`payload ${index} of ${payloads.length} says hasNext ${hasNext}`)
  })
  const errors = [...(first.errors ?? [])]
  const failed: Path[] = []
  const open = new Map<string, Path>()
  const announce = (payload: SentPayload) => {
    for (const { id, path } of payload.pending ?? []) {
      if (open.has(id)) throw new Error(`id ${id} is announced twice`)
      if (typeof at(first.data, path) !== 'object' || at(first.data, path) === null)
        throw new Error(`id ${id} is announced at ${path.join('.')}, where no object is`)
      open.set(id, path)
    }
  }
  announce(first)
  for (const payload of later) {
    // Parts nested in a part that came with the same payload are announced with it.
    const late: SentPayload['pending'] = payload.pending?.filter(({ path }) => at(first.data, path) === undefined)
    announce({ ...payload, pending: payload.pending?.filter(each => !late?.includes(each)) ?? [] })
    for (const { id, path } of late ?? []) open.set(id, path)
    for (const { id, subPath = [], path: own, data, items, errors: told } of payload.incremental ?? []) {
      errors.push(...(told ?? []))
      if (id !== undefined && !open.has(id)) throw new Error(`data came for id ${id}, which is not open`)
      const path = id === undefined ? own! : [...open.get(id)!, ...subPath]
      if (items !== undefined) {
        const list = at(first.data, id === undefined ? path.slice(0, -1) : path)
        if (items === null) failed.push(path)
        else if (!Array.isArray(list)) throw new Error(`items came for ${path.join('.')}, where no list is`)
        else if (id === undefined && list.length !== path.at(-1)) throw new Error(`items came for ${path.join('.')}, of which ${list.length} are known`)
        else list.push(...items)
        continue
      }
      if (data === null) {
        failed.push(path)
        continue
      }
      const target = at(first.data, path)
      if (typeof target !== 'object' || target === null) throw new Error(`a part came for ${path.join('.')}, where no object is`)
      put(target as Record<string, unknown>, data, id !== undefined)
    }
    for (const { id, errors: because } of payload.completed ?? []) {
      if (!open.has(id)) throw new Error(`id ${id} is completed, and is not open`)
      if (because) failed.push(open.get(id)!)
      errors.push(...(because ?? []))
      open.delete(id)
    }
  }
  if (open.size > 0) throw new Error(`ids ${[...open.keys()].join(', ')} were never completed`)
  return { data: first.data, errors, failed }
}

/** Merges payloads, and says with a text what they were where they break the protocol. */
export function mergedOr(payloads: readonly SentPayload[], told: string): Merged {
  try {
    return mergePayloads(payloads)
  } catch (cause) {
    throw new Error(told, { cause })
  }
}

function put(target: Record<string, unknown>, source: Record<string, unknown>, once: boolean): void {
  for (const [key, value] of Object.entries(source)) {
    const present = Object.hasOwn(target, key) ? target[key] : undefined
    if (once && present !== undefined) throw new Error(`the field ${key} came twice`)
    if (present && value && typeof present === 'object' && typeof value === 'object')
      put(present as Record<string, unknown>, value as Record<string, unknown>, once)
    else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  }
}

/** Errors as a set of path, code and message. */
export const errorSet = (errors: readonly SentError[] = []): string[] =>
  [...new Set(errors.map(({ path = [], extensions, message }) => `${path.join('.')} ${extensions?.code} ${message}`))].sort()

/**
 * Says where merged payloads differ from the undeferred answer; null where they are equal. Where a part became null as a
 * whole, what is around it may be null in the undeferred answer, and its fields are missing.
 */
export function differs(merged: unknown, whole: unknown, failed: Merged['failed'], path: (string | number)[] = []): string | null {
  const isAbove = failed.some(each => path.every((segment, index) => each[index] === segment))
  const isBelow = failed.some(each => each.every((segment, index) => path[index] === segment))
  if ((whole === null && isAbove && merged !== null) || (merged === undefined && isBelow)) return null
  if (typeof merged !== 'object' || typeof whole !== 'object' || merged === null || whole === null)
    return Object.is(merged, whole) ? null : `${path.join('.')}: ${JSON.stringify(merged)} instead of ${JSON.stringify(whole)}`
  for (const key of new Set([...Object.keys(merged), ...Object.keys(whole)])) {
    const inner = [...path, Array.isArray(whole) ? Number(key) : key]
    const found = differs(own(merged, key), own(whole, key), failed, inner)
    if (found) return found
  }
  return null
}

const own = (value: object, key: string): unknown => (Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined)

/** Errors below a place that another error made null may or may not be told (section 6.4.4). */
export const comparableErrors = (errors: readonly SentError[] | undefined, data: unknown) => errorSet(errors?.filter(({ path = [] }) => reaches(data, path)))

function reaches(data: unknown, path: readonly (string | number)[]): boolean {
  let value = data
  for (const segment of path) {
    if (value === null || value === undefined) return false
    value = (value as Record<string | number, unknown>)[segment]
  }
  return true
}

/**
 * Defers fragments of an operation at random, and wraps some of its fields in deferred fragments.
 * @param pick    returns a number below another one
 * @param streams whether lists are streamed too
 */
export function deferRandomly(source: string, schema: GraphQLSchema, pick: (below: number) => number, streams = false): string {
  let count = 0
  const types = new TypeInfo(schema)
  // Nothing at the root of a mutation or subscription can be deferred.
  const isFixed = () => [schema.getMutationType(), schema.getSubscriptionType()].includes(types.getParentType() as GraphQLObjectType)
  const defer = (): DirectiveNode => {
    const label = { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'label' }, value: { kind: Kind.STRING, value: `l${count++}` } } as const
    return { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'defer' }, arguments: pick(3) === 0 ? [label] : [] }
  }
  const directives = () => (pick(2) === 0 && !isFixed() ? [defer()] : [])
  const visitor = {
    Field: {
      leave(node: FieldNode) {
        if (!streams || isFixed() || !isList(types.getType()) || pick(2) === 0) return undefined
        return { ...node, directives: [...(node.directives ?? []), streamOf(pick(3), pick(2) === 0 ? `s${count++}` : null)] }
      },
    },
    FragmentSpread: { leave: (node: FragmentSpreadNode) => ({ ...node, directives: [...(node.directives ?? []), ...directives()] }) },
    InlineFragment: { leave: (node: InlineFragmentNode) => ({ ...node, directives: [...(node.directives ?? []), ...directives()] }) },
    SelectionSet: {
      leave(set: SelectionSetNode) {
        if (set.selections.length === 0 || isFixed() || pick(4) !== 0) return undefined
        const from = pick(set.selections.length)
        const moved = set.selections.slice(from, from + 1 + pick(3))
        const fragment: SelectionNode = { kind: Kind.INLINE_FRAGMENT, directives: [defer()], selectionSet: { kind: Kind.SELECTION_SET, selections: moved } }
        const kept = pick(4) === 0 ? set.selections : set.selections.filter(each => !moved.includes(each))
        return { ...set, selections: [...kept, fragment] }
      },
    },
  }
  const document: DocumentNode = visit(parse(source), visitWithTypeInfo(types, visitor))
  return print(document)
}

const isList = (type: unknown) => isListType(isNonNullType(type) ? type.ofType : type)

const streamOf = (first: number, label: string | null): DirectiveNode => {
  const [definition] = parse(`{ f @stream(initialCount: ${first}${label === null ? '' : `, label: "${label}"`}) }`, { noLocation: true }).definitions
  const [field] = (definition as OperationDefinitionNode).selectionSet.selections
  return field!.directives![0]!
}

/** An operation without its `@defer` and `@stream`. */
export const undeferred = (source: string): string =>
  print(visit(parse(source), { Directive: node => (node.name.value === 'defer' || node.name.value === 'stream' ? null : undefined) }))
