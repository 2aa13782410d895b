import type { Part } from '../supergraph-fixture.ts'

/** Labels of the graph below. */
export const labels = ['one', 'percent(25)', 'percent(5.5)', 'two/x'] as const
export type Label = (typeof labels)[number]

/** How the moved fields are written: with their labels, or as if each label were decided for ever. */
export type Writing = 'labelled' | ReadonlySet<Label>

/** A field that moves from a to b. */
interface Moved {
  readonly of: 'Query' | 'Mutation' | 'Item' | 'Owner'
  readonly name: string
  /** Arguments and type. */
  readonly form: string
  readonly label: Label
  /** Further directives of the field in b. */
  readonly more?: string
}

const moved: readonly Moved[] = [
  { of: 'Query', name: 'total', form: ': Int', label: 'two/x' },
  { of: 'Mutation', name: 'touch', form: '(id: ID!): Item', label: 'one' },
  { of: 'Item', name: 'name', form: ': String', label: 'one' },
  { of: 'Item', name: 'price', form: '(first: Int): Int', label: 'percent(25)' },
  { of: 'Item', name: 'size', form: ': Size', label: 'one' },
  { of: 'Item', name: 'owner', form: ': Owner', label: 'two/x' },
  { of: 'Item', name: 'stock', form: ': Int', label: 'percent(5.5)', more: '@requires(fields: "weight")' },
  { of: 'Item', name: 'shared', form: ': String', label: 'two/x', more: '@shareable' },
  { of: 'Owner', name: 'name', form: ': String', label: 'two/x' },
  { of: 'Owner', name: 'items', form: '(first: Int = 2): [Item]', label: 'percent(5.5)' },
]

const item = (id: string) => (/^b[1-3]$/.test(id) ? { __typename: 'Item', id } : null)
const owner = (id: string) => (/^a[12]$/.test(id) ? { __typename: 'Owner', id } : null)
const resolveType = { __resolveType: ({ __typename }: { __typename: string }) => __typename }
const refer = { __resolveReference: (reference: object) => reference }
const [all, owners] = [['b1', 'b2', 'b3'].map(item), ['a1', 'a2'].map(owner)]

/** Resolvers of the moved fields; their values name the subgraph that answered. */
const resolversIn = (subgraph: 'a' | 'b') => {
  const shift = subgraph === 'a' ? 0 : 1
  return {
    Query: { total: () => 100 + shift },
    Mutation: { touch: (_: unknown, { id }: { id: string }) => item(id) },
    Item: {
      name: ({ id }: { id: string }) => (id === 'b3' && shift ? null : `${subgraph} ${id}`),
      price: (_: unknown, { first }: { first?: number | null }) => (first ?? 0) * 10 + shift,
      size: ({ id }: { id: string }) => ({ w: shift, h: Number(id.slice(1)) }),
      owner: ({ id }: { id: string }) => owners[(Number(id.slice(1)) + shift) % 2],
      stock: () => 1000 + shift,
      shared: () => subgraph,
    },
    Owner: {
      name: ({ id }: { id: string }) => `${subgraph} ${id}`,
      items: (_: unknown, { first }: { first: number }) => (shift ? all.toReversed() : all).slice(0, first),
    },
  }
}

function written({ name, form, label, more = '' }: Moved, writing: Writing): string {
  const override = writing === 'labelled' ? `@override(from: "a", label: "${label}")` : '@override(from: "a")'
  return `${name}${form} ${override} ${more}`
}

/**
 * Three subgraphs of items and their owners. Fields move from a to b: of the roots, of entities, with arguments, of an
 * interface, with objects and entities as values, with a requirement, and one that a third subgraph has too and another
 * field requires.
 */
export function movingGraph(writing: Writing): Record<string, Part> {
  const present = moved.filter(({ label }) => writing === 'labelled' || writing.has(label))
  const inA = (of: Moved['of']) => moved.filter(each => each.of === of).map(({ name, form, more }) => `${name}${form} ${more === '@shareable' ? more : ''}`)
  const inB = (of: Moved['of']) => present.filter(each => each.of === of).map(each => written(each, writing))
  const there = resolversIn('b')
  const only = (of: Moved['of']) => Object.fromEntries(Object.entries(there[of]).filter(([name]) => present.some(each => each.of === of && each.name === name)))
  const mutations = inB('Mutation')
  return {
    a: {
      sdl: `type Query { items(first: Int = 3): [Item] named: [Named] owner(id: ID!): Owner ${inA('Query').join(' ')} }
        type Mutation { ${inA('Mutation').join(' ')} }
        type Subscription { renamed: Item }
        interface Named { id: ID! name: String }
        type Item implements Named @key(fields: "id") { id: ID! parts: [Item!] ${inA('Item').join(' ')} }
        type Owner implements Named @key(fields: "id") { id: ID! ${inA('Owner').join(' ')} }
        type Size @shareable { w: Int h: Int }`,
      resolvers: {
        Query: {
          items: (_: unknown, { first }: { first: number }) => all.slice(0, first),
          named: () => [all[0], owners[0], null, all[2], owners[1]],
          owner: (_: unknown, { id }: { id: string }) => owner(id),
          ...resolversIn('a').Query,
        },
        Mutation: resolversIn('a').Mutation,
        Subscription: {
          renamed: {
            async *subscribe() {
              for (const id of ['b1', 'b2']) yield { renamed: item(id) }
            },
          },
        },
        Named: resolveType,
        Item: { ...refer, parts: ({ id }: { id: string }) => (id === 'b1' ? [all[1], all[2]] : []), ...resolversIn('a').Item },
        Owner: { ...refer, ...resolversIn('a').Owner },
      },
    },
    b: {
      sdl: `type Query { best: Item ${inB('Query').join(' ')} }
        ${mutations.length > 0 ? `type Mutation { ${mutations.join(' ')} }` : ''}
        type Item @key(fields: "id") { id: ID! extra: String ${present.some(({ more }) => more?.includes('weight')) ? 'weight: Int @external' : ''} ${inB('Item').join(' ')} }
        type Owner @key(fields: "id") { id: ID! age: Int ${inB('Owner').join(' ')} }
        type Size @shareable { w: Int h: Int }`,
      resolvers: {
        Query: { best: () => all[1], ...only('Query') },
        ...(mutations.length > 0 && { Mutation: only('Mutation') }),
        Item: { ...refer, extra: ({ id }: { id: string }) => `extra ${id}`, ...only('Item') },
        Owner: { ...refer, age: () => 40, ...only('Owner') },
      },
    },
    c: {
      sdl: `type Query { found: [Found] }
        union Found = Item | Owner
        type Item @key(fields: "id") { id: ID! weight: Int shared: String @shareable extra: String @external cost: String @requires(fields: "extra") }
        type Owner @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: { found: () => [all[2], owners[1], all[0]] },
        Found: resolveType,
        Item: {
          ...refer,
          weight: ({ id }: { id: string }) => Number(id.slice(1)),
          shared: () => 'shared',
          cost: ({ extra }: { extra?: string }) => `cost of ${extra}`,
        },
        Owner: refer,
      },
    },
  }
}
