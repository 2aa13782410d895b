import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly __typename: string
  readonly id: string
}

const ref = (id: string): Ref => ({ __typename: { p: 'Post', g: 'Page', u: 'User', b: 'Bot' }[id[0]!]!, id })
const owners: Record<string, string | null> = { p1: 'u1', p2: null, g1: 'b1' }
const codes: Record<string, string | null> = { p1: 'one', p2: 'two', g1: null }
const friends: Record<string, string | null> = { u1: 'u2', u2: null, b1: 'b1' }
const seal = (id: string) => ({ ink: `ink of ${id}`, by: ref(id[0] === 'p' ? 'u2' : 'b1') })
const refOf = (id: string | null | undefined) => (id ? ref(id) : null)

const Query = {
  nodes: () => ['p1', 'g1', 'p2'].map(ref),
  outs: () => [{ __typename: 'Group', id: 'x' }, ref('g1'), ref('p1')],
  top: (_: unknown, { id }: { id: string }) => (Object.hasOwn(codes, id) ? ref(id) : null),
}
const Node = {
  owner: ({ id }: Ref) => refOf(owners[id]),
  label: ({ id }: Ref, { length }: { length?: number | null }) => `label of ${id}`.slice(0, length ?? 99),
  code: ({ id }: Ref) => codes[id],
  seal: ({ id }: Ref) => (id === 'g1' ? null : seal(id)),
  seals: ({ id }: Ref) => (id === 'g1' ? [seal(id), null] : [seal(id)]),
}
const Actor = {
  name: ({ id }: Ref) => (id === 'u2' ? null : `name of ${id}`),
  friend: ({ id }: Ref) => refOf(friends[id]),
  wrote: ({ id }: Ref) => (id === 'u1' ? [ref('p1'), ref('g1')] : []),
  karma: ({ id }: Ref, { of }: { of?: string | null }) => ({ points: id.charCodeAt(1) + (of?.length ?? 0), from: ref('u1') }),
}
const { karma, wrote, ...Plain } = Actor
const Group = { best: () => ref('p1'), inner: () => [ref('g1'), ref('p2')] }
const Rated = { likes: ({ id }: Ref) => id.length }
const typeOf = { __resolveType: ({ __typename }: Ref) => __typename }
const same = { __resolveReference: ({ id }: Ref) => ref(id) }

/**
 * Implementations that narrow what their interface says: other types, further arguments. And fields that are of one type to
 * clients, but in one subgraph never null on one type only.
 */
export const relatives: PurposeGraph = {
  parts: {
    pages: {
      sdl: `type Query { nodes: [Node] outs: [Out] top(id: ID!): Node }
        interface Node { id: ID! owner: Actor label: String code: String seal: Seal seals: [Seal] }
        type Post implements Node @key(fields: "id") {
          id: ID! owner: User label(length: Int): String code: String! @shareable seal: Seal! @shareable seals: [Seal!]! @shareable
        }
        type Page implements Node @key(fields: "id") { id: ID! owner: Bot label: String code: String seal: Seal seals: [Seal] }
        type Seal @shareable { ink: String by: Actor }
        interface Actor { id: ID! name: String friend: Actor }
        type User implements Actor @key(fields: "id") { id: ID! name: String friend: User }
        type Bot implements Actor @key(fields: "id") { id: ID! name: String friend: Bot }
        type Group { best: Node inner: [Out] }
        union Out = Post | Page | Group`,
      resolvers: {
        Query,
        Node: typeOf,
        Actor: typeOf,
        Out: typeOf,
        Post: { ...Node, ...same },
        Page: { ...Node, ...same },
        User: { ...Plain, ...same },
        Bot: { ...Plain, ...same },
        Group,
      },
    },
    ratings: {
      sdl: `type Post @key(fields: "id") { id: ID! code: String @shareable seal: Seal @shareable seals: [Seal] @shareable likes: Int }
        type Page @key(fields: "id") { id: ID! likes: Int }
        type Seal @shareable { ink: String by: Actor }
        interface Actor { id: ID! }
        type User implements Actor @key(fields: "id") { id: ID! }
        type Bot implements Actor @key(fields: "id") { id: ID! }`,
      resolvers: { Post: { ...Node, ...Rated, ...same }, Page: { ...Rated, ...same }, Actor: typeOf },
    },
    karma: {
      sdl: `interface Ranked { karma: Karma }
        type Karma { points: Int from: User }
        type User implements Ranked @key(fields: "id") { id: ID! karma(of: ID): Karma wrote: [Node] }
        type Bot implements Ranked @key(fields: "id") { id: ID! karma: Karma wrote: [Node] }
        interface Node { id: ID! }
        type Post implements Node @key(fields: "id") { id: ID! }
        type Page implements Node @key(fields: "id") { id: ID! }`,
      resolvers: { User: { karma, wrote, ...same }, Bot: { karma, wrote, ...same }, Node: typeOf, Ranked: typeOf, Post: same, Page: same },
    },
  },
  whole: joined(
    { Query, Post: Node, Page: Node, User: Actor, Bot: Actor, Group, Node: typeOf, Actor: typeOf, Out: typeOf, Ranked: typeOf },
    { Post: Rated, Page: Rated },
  ),
  // Where only one subgraph never answers null, a failed field costs its parent, which one schema does not come to know.
  mayFail: field => !['code', 'seal', 'seals'].includes(field),
  // Its planner needs seconds for most of these operations.
  stock: false,
  values: { id: ['p1', 'g1', 'none'], length: [null, 3], of: [null, 'u1'] },
}
