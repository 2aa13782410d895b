import { joined, type PurposeGraph } from './graph.ts'

interface Ref {
  readonly id: string
}

const post = (id: string) => ({ __typename: 'Post', id })
const author = (id: string) => ({ __typename: 'Author', id })

/** The same few events for everybody who asks, one of them null. */
async function* events({ of }: { of?: string | null }) {
  for (const id of ['1', '22', '', '333']) if (!of || id === of) yield { changed: id === '' ? null : post(id), both: [post(id || '4'), null] }
}
const listen = { subscribe: (_: unknown, given: { of?: string | null }) => events(given) }
const Subscription = { changed: listen, both: listen }

const Query = { posts: () => [post('1')] }
const Post = { title: ({ id }: Ref) => (id === '22' ? null : `title ${id}`) }
const Liked = { likes: ({ id }: Ref) => id.length, author: ({ id }: Ref) => (id === '333' ? null : author(`a${id}`)) }
const Author = { name: ({ id }: Ref) => `name of ${id}`, posts: ({ id }: Ref) => [post(id.slice(1))] }

/** Subscriptions whose events are completed by two other subgraphs. */
export const feed: PurposeGraph = {
  parts: {
    posts: {
      sdl: `type Query { posts: [Post] } type Subscription { changed(of: ID): Post both(of: ID): [Post] }
        type Post @key(fields: "id") { id: ID! title: String }`,
      resolvers: { Query, Subscription, Post },
    },
    likes: {
      sdl: 'type Post @key(fields: "id") { id: ID! likes: Int! author: Author } type Author @key(fields: "id") { id: ID! }',
      resolvers: { Post: Liked },
    },
    people: {
      sdl: 'type Author @key(fields: "id") { id: ID! name: String posts: [Post!] } type Post @key(fields: "id") { id: ID! }',
      resolvers: { Author },
    },
  },
  whole: joined({ Query, Subscription, Post, Author }, { Post: Liked }),
  values: { of: [null, '22', '333', 'none'] },
}
