import { type GraphQLField, type GraphQLObjectType, type GraphQLSchema, getNamedType, isListType, isNonNullType, isObjectType } from 'graphql'

/** A repeatable source of chances: `mulberry32`, which needs no more than one number to begin with. */
export function chances(seed: number): (most: number) => number {
  let state = seed >>> 0
  return most => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most)
  }
}

/** How long a query may be, in bytes: a search among longer ones finds plans that take longer, and no dearer answers. */
export const mostBytes = Number(process.env.WORST_BYTES ?? 1000)

const mostLevels = 18

/** What a search knows of the graph. */
export interface Ground {
  readonly schema: GraphQLSchema
  readonly ids: Readonly<Record<'brand' | 'post' | 'user', string>>
}

/** One query of the search: choices, of which some are changed to make the next. */
export type Choices = readonly number[]

export const newChoices = (chance: (most: number) => number): number[] => Array.from({ length: 60 }, () => chance(1 << 30))

/** Changes a few choices: a query like the one before. */
export const changed = (choices: Choices, chance: (most: number) => number): number[] => choices.map(choice => (chance(8) === 0 ? chance(1 << 30) : choice))

/**
 * Makes a query out of choices that goes for what is expensive: lists of a hundred within each other, the same field under many aliases,
 * totals, entities of other subgraphs. It grows until it has a thousand bytes.
 */
export function expensiveQuery({ schema, ids }: Ground, choices: Choices): string {
  let at = 0
  const pick = (most: number) => choices[at++ % choices.length]! % most
  let left = mostBytes - 4
  let aliases = 0

  const isList = (field: GraphQLField<unknown, unknown>) => isListType(isNonNullType(field.type) ? field.type.ofType : field.type)
  const targetOf = (field: GraphQLField<unknown, unknown>) => getNamedType(field.type)
  const argumentsOf = (field: GraphQLField<unknown, unknown>): string | null => {
    const given = field.args.flatMap(({ name, type }) => {
      if (name === 'first') return [`first:${[100, 99, 50, 20, 9, 4][pick(6)]}`]
      const named = getNamedType(type).name
      if (!isNonNullType(type)) return name === 'brandId' && pick(4) === 0 ? [`brandId:"${ids.brand}"`] : []
      if (name === 'slug') return ['slug:"publishing"']
      if (named === 'ID') return [`${name}:"${field.name === 'brand' ? ids.brand : ids.post}"`]
      return [null]
    })
    if (given.includes(null)) return null
    return given.length > 0 ? `(${given.join(',')})` : ''
  }
  /** Half the room is for what is below the first expensive field, the rest for further ones and for leaves. */
  const selection = (type: GraphQLObjectType, room: number, level: number): string => {
    const fields = Object.values(type.getFields())
    const leaves = fields.filter(field => !isObjectType(targetOf(field)) && argumentsOf(field) === '')
    const deeper = fields.filter(field => isObjectType(targetOf(field)) && !/^pageInfo$/.test(field.name))
    const lists = deeper.filter(field => isList(field) || targetOf(field).name.endsWith('Connection'))
    let text = ''
    let used = 0
    const add = (part: string) => {
      if (used + part.length + 1 > room || left < part.length + 1) return false
      text += `${text ? ' ' : ''}${part}`
      used += part.length + 1
      left -= part.length + 1
      return true
    }
    const branches = level > mostLevels ? 0 : 1 + (pick(3) === 0 ? pick(4) : 0)
    for (let branch = 0; branch < branches && deeper.length > 0; branch++) {
      const from = lists.length > 0 && pick(4) > 0 ? lists : deeper
      const field = from[pick(from.length)]!
      const given = argumentsOf(field)
      if (given === null) continue
      const head = `${branch > 0 ? `z${aliases++}:` : ''}${field.name}${given}`
      const inner = room - used - head.length - 3
      if (inner < 12 || left < head.length + 14) break
      left -= head.length + 3
      used += head.length + 3
      const below = selection(targetOf(field) as GraphQLObjectType, branches > 1 ? Math.floor(inner * 0.6) : inner, level + 1)
      text += `${text ? ' ' : ''}${head}{${below}}`
      used += below.length
    }
    if (text === '' || pick(2) === 0) {
      const copies = 1 + (pick(3) === 0 ? pick(40) : pick(3))
      for (let copy = 0; copy < copies && leaves.length > 0 && aliases < 95; copy++) {
        const leaf = leaves[pick(leaves.length)]!
        if (!add(copy === 0 ? leaf.name : `z${aliases++}:${leaf.name}`)) break
      }
    }
    if (text === '') {
      text = '__typename'
      left -= text.length
    }
    return text
  }
  return `{${selection(schema.getQueryType()!, mostBytes - 4, 1)}}`
}

/**
 * The query with its pages made shorter, as much as it takes until it costs no more than it may; null when single entries still do.
 * @param costs estimates a query
 */
export function affordable(query: string, most: number, costs: (query: string) => number): string | null {
  let text = query
  while (costs(text) > most) {
    const shorter = text.replaceAll(/first:(\d+)/g, (_, first) => `first:${Math.max(1, Math.floor(Number(first) * 0.9))}`)
    if (shorter === text) return null
    text = shorter
  }
  return text
}

const nested = (levels: number, open: string, close: string, core: string) => `${open.repeat(levels)}${core}${close.repeat(levels)}`
/** The same field under as many aliases as there is room for, within what stands around it. */
function filled(before: string, field: string, after: string): string {
  let text = before
  for (let alias = 0; alias < 99; alias++) {
    const next = `${text}${alias ? ' ' : ''}z${alias.toString(36)}:${field}`
    if (next.length + after.length > mostBytes) break
    text = next
  }
  return text + after
}

/** Queries that did harm once, or nearly. */
export const knownQueries: readonly string[] = [
  `{organizationMembers{nodes{${nested(5, 'organization{memberships{nodes{', '}}}', 'id')}}}}`,
  `{organizationMembers(first:100){nodes{${nested(5, 'organization{memberships(first:100){nodes{', '}}}', 'id')}}}}`,
  `{organizationMembers(first:100){edges{node{${nested(4, 'organization{memberships(first:100){edges{cursor node{', '}}}}', 'user{name email}')}}}}}`,
  // Few objects and no more values than there may be, each as long as it can be.
  ...[20, 30, 40, 90].map(
    count =>
      `{organizationMembers(first:100){nodes{organization{memberships(first:97){nodes{${Array.from({ length: count }, (_, at) => `z${at}:id`).join(' ')}}}}}}}`,
  ),
  `{organizationMembers(first:100){nodes{organization{memberships(first:97){nodes{${Array.from({ length: 20 }, (_, at) => `z${at}:roles`).join(' ')}}}}}}}`,
  `{brands(first:50){nodes{connections{author{name} id accountName externalAccountId connectedAt ${Array.from({ length: 50 }, (_, at) => `z${at}:connectedAt`).join(' ')}}}}}`,
  `{${Array.from({ length: 18 }, (_, at) => `z${at}:posts(first:${100 - at}){totalCount nodes{id brand{name}}}`).join('')}}`,
  filled('{posts(first:100){nodes{', 'copy', '}}}'),
  filled('{posts(first:100){nodes{', 'brand{name organization{name}}', '}}}'),
  `{posts(first:100){nodes{author{name}brand{organization{memberships(first:100){nodes{user{name email}organization{brands(first:100){nodes{connections{author{name}}}}}}}}}}}}`,
  `{viewer{organization{brands(first:100){nodes{organization{brands(first:100){nodes{organization{brands(first:100){nodes{id name connections{id accountName}}}}}}}}}}}}`,
  // One brand's list within itself by two ways: what is merged is reached as often as both multiply.
  '{brands(first:100){nodes{organization{memberships(first:99){edges{node{organization{memberships(first:50){edges{node{organization{brands(first:50){nodes{organization{brands(first:50){nodes{connections{author{image}}z2:connections{author{id}}}edges{node{connections{id}}}}}}}}}}nodes{organization{brands(first:99){edges{node{connections{author{email}}z46:connections{author{name}}id}cursor}}}}}}}}}}}}}',
  `{${Array.from({ length: 24 }, (_, at) => `z${at}:posts(first:${100 - at}){totalCount nodes{id}}`).join('')}}`,
  filled('{', 'publishingWidget{items{id}}', '}'),
  filled('{', 'widgets{payload{items{id}}}', '}'),
  filled('{', 'services{slug scopes{name meaning}}', '}'),
  filled('{', '__schema{types{fields{args{type{name}}type{name}}}}', '}'),
  filled('{', '__schema{types{fields{type{fields{type{name kind}args{name}}}}}}', '}'),
]
