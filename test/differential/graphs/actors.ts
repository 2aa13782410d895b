import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly id: string
}

const actor = (id: string) => ({ __typename: id[0] === 'u' ? 'User' : 'Bot', id })
const names: Record<string, string | null> = { u1: 'Ada', u2: null, b1: 'Beep' }
const friends: Record<string, string[]> = { u1: ['b1', 'u2'], u2: [], b1: ['u1'] }
const posts: Record<string, { author: string; text: string }> = { t1: { author: 'u1', text: 'hi' }, t2: { author: 'b1', text: 'beep' } }
const post = (id: string) => ({ __typename: 'Post', id })

const Query = {
  actors: () => ['u1', 'b1', 'u2'].map(actor),
  actor: (_: unknown, { id }: Ref) => (Object.hasOwn(names, id) ? actor(id) : null),
  posts: () => [post('t1'), post('t2')],
}
const name = ({ id }: Ref) => names[id]
const age = () => 40
const owner = () => actor('u1')
const likes = ({ id }: Ref) => id.length * 7
const friendsOf = ({ id }: Ref) => friends[id]!.map(actor)
const postsOf = ({ id }: Ref, { contains }: { contains?: string | null }) =>
  Object.keys(posts)
    .filter(key => posts[key]!.author === id && posts[key]!.text.includes(contains ?? ''))
    .map(post)
const Post = { text: ({ id }: Ref) => posts[id]!.text, author: ({ id }: Ref) => actor(posts[id]!.author) }
const typeOf = { __resolveType: ({ __typename }: { __typename: string }) => __typename }
const same = { __resolveReference: ({ id }: Ref) => actor(id) }
const bare = ({ id }: Ref) => ({ id })

/** An interface that two other subgraphs know as one object type, and whose implementations they have never heard of. */
export const actors: PurposeGraph = {
  parts: {
    base: {
      sdl: `type Query { actors: [Actor!]! actor(id: ID!): Actor }
        interface Actor @key(fields: "id") { id: ID! name: String }
        type User implements Actor @key(fields: "id") { id: ID! name: String age: Int }
        type Bot implements Actor @key(fields: "id") { id: ID! name: String owner: User }`,
      resolvers: {
        Query: { actors: Query.actors, actor: Query.actor },
        Actor: { ...typeOf, ...same },
        User: { name, age, ...same },
        Bot: { name, owner, ...same },
      },
    },
    likes: {
      sdl: 'type Actor @key(fields: "id") @interfaceObject { id: ID! likes: Int! friends: [Actor] }',
      resolvers: { Actor: { likes, friends: (source: Ref) => friendsOf(source).map(bare) } },
    },
    posts: {
      sdl: `type Query { posts: [Post] }
        type Actor @key(fields: "id") @interfaceObject { id: ID! posts(contains: String): [Post!] }
        type Post @key(fields: "id") { id: ID! text: String author: Actor }`,
      resolvers: { Query: { posts: Query.posts }, Actor: { posts: postsOf }, Post: { text: Post.text, author: (source: Ref) => bare(Post.author(source)) } },
    },
    stars: {
      sdl: 'type Post @key(fields: "id") { id: ID! stars: Int } type User @key(fields: "id") { id: ID! badge: String }',
      resolvers: { Post: { stars: () => 3 }, User: { badge: ({ id }: Ref) => `badge of ${id}` } },
    },
  },
  whole: joined({
    Query,
    Actor: typeOf,
    User: { name, age, likes, friends: friendsOf, posts: postsOf, badge: ({ id }: Ref) => `badge of ${id}` },
    Bot: { name, owner, likes, friends: friendsOf, posts: postsOf },
    Post: { ...Post, stars: () => 3 },
  }),
  // An interface object is requested for all implementations at once, so that errors may appear at places which the
  // client did not request.
  mayFail: () => false,
  values: { id: ['u1', 'u2', 'b1', 'none'], contains: [null, 'h', 'zz'] },
}
