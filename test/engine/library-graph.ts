import { GraphQLScalarType } from 'graphql'
import { DomainError } from '../../platform/errors.ts'
import type { Part } from './supergraph-fixture.ts'

/**
 * A small library in four subgraphs, made to be difficult: lists of lists, unions, an interface object, required and
 * provided fields, entities that are gone, fields that fail, an enum value clients do not know, objects inside a scalar.
 * Every object is only a type and an id; resolvers look the rest up, so the same ones serve a monolith.
 */
export interface Ref {
  readonly __typename: 'Book' | 'Author' | 'Review'
  readonly id: string
}

const book = (id: string): Ref => ({ __typename: 'Book', id })
const author = (id: string): Ref => ({ __typename: 'Author', id })
const review = (id: string): Ref => ({ __typename: 'Review', id })

const books: Record<string, { title: string; weight: number | null; format: string; writers: string[]; reviews: string[] }> = {
  b1: { title: 'One', weight: 100, format: 'PAPER', writers: ['a1', 'a2'], reviews: ['r1', 'r2'] },
  b2: { title: 'Two', weight: null, format: 'AUDIO', writers: ['a2'], reviews: [] },
  b3: { title: 'Three', weight: 300, format: 'SECRET', writers: ['a1', 'gone'], reviews: ['r3'] },
}
const authors: Record<string, { name: string; nick: string | null; favourite: string | null; meta: unknown }> = {
  a1: { name: 'Ada', nick: null, favourite: 'b2', meta: { __typename: 'Trick', id: 7, deep: [{ at: 1 }, null] } },
  a2: { name: 'Bob', nick: 'bobby', favourite: 'b1', meta: [1, { two: 2 }] },
}
const reviews: Record<string, { body: string; stars: number; author: string; book: string }> = {
  r1: { body: 'good', stars: 5, author: 'a2', book: 'b1' },
  r2: { body: 'bad', stars: 1, author: 'a1', book: 'b1' },
  r3: { body: 'fine', stars: 3, author: 'a2', book: 'b3' },
}
const likes: Record<string, number> = { b1: 10, b2: 20, a1: 30 }

const Json = new GraphQLScalarType({ name: 'Json' })
const refuse = (what: string) => {
  throw new DomainError('NOT_FOUND', `There is no ${what}.`)
}

const Query = {
  books: (_: unknown, { first }: { first: number }) => ['b1', 'b2', 'b3'].slice(0, first).map(book),
  book: (_: unknown, { id }: { id: string }) => (Object.hasOwn(books, id) ? book(id) : null),
  shelves: () => [[book('b1'), book('b3')], [], [null, book('b2')], null],
  found: () => [book('b1'), author('a1'), null, review('r1'), author('a2'), book('b3')],
  nodes: () => [author('a1'), book('b2'), book('b1')],
  echo: (_: unknown, { input }: { input?: { text?: string | null; numbers?: number[] } | null }) => JSON.stringify(input ?? null),
  author: (_: unknown, { id }: { id: string }) => author(id),
  latest: () => review('r3'),
}
const Book = {
  title: ({ id }: Ref) => books[id]!.title,
  weight: ({ id }: Ref) => books[id]!.weight,
  cost: ({ id }: Ref, { in: unit }: { in: string }) => (unit === 'EUR' ? 10 : 1000) * Number(id.slice(1)),
  format: ({ id }: Ref) => books[id]!.format,
  writers: ({ id }: Ref) => books[id]!.writers.map(author),
  lost: ({ id }: Ref) => (id === 'b2' ? refuse('lost page') : 'page'),
  table: () => [
    ['x', 'y'],
    ['z', null],
  ],
}
const BookReviews = {
  reviews: ({ id }: Ref, { atLeast = 0 }: { atLeast?: number | null }) => books[id]!.reviews.filter(r => reviews[r]!.stars >= (atLeast ?? 0)).map(review),
}
const Review = {
  body: ({ id }: Ref) => reviews[id]!.body,
  stars: ({ id }: Ref) => reviews[id]!.stars,
  author: ({ id }: Ref) => author(reviews[id]!.author),
  book: ({ id }: Ref) => book(reviews[id]!.book),
  strict: ({ id }: Ref) => (id === 'r2' ? refuse('strict answer') : 'strict'),
}
const Author = {
  name: ({ id }: Ref) => authors[id]?.name,
  nick: ({ id }: Ref) => (authors[id] ? (authors[id].nick ?? refuse('nickname')) : null),
  favourite: ({ id }: Ref) => (authors[id]?.favourite ? book(authors[id].favourite) : null),
  meta: ({ id }: Ref) => authors[id]?.meta,
}
const typeOf = { __resolveType: (value: Ref) => value.__typename }
const same = { __resolveReference: (reference: Ref) => ({ __typename: reference.__typename, id: reference.id }) }
const known = { __resolveReference: (reference: Ref) => (Object.hasOwn(authors, reference.id) ? author(reference.id) : null) }
const likesOf = ({ id }: Ref) => likes[id] ?? null

export const library: Record<string, Part> = {
  catalog: {
    sdl: `
      type Query {
        books(first: Int = 2): [Book] book(id: ID!): Book shelves: [[Book]] found: [Found] nodes: [Node!]! echo(input: Echo): String
      }
      input Echo { text: String = "none", numbers: [Int!] }
      enum Format { PAPER AUDIO SECRET @inaccessible }
      enum WriteTransaction { EUR CENT }
      interface Node @key(fields: "id") { id: ID! }
      union Found = Book | Author | Review
      type Book implements Node @key(fields: "id") {
        id: ID! title: String! weight: Int cost(in: WriteTransaction = EUR): Int format: Format writers: [Author] lost: String table: [[String]]
      }
      type Author implements Node @key(fields: "id") { id: ID! }
      type Review @key(fields: "id") { id: ID! }`,
    resolvers: { Query, Book: { ...Book, ...same }, Author: same, Found: typeOf, Node: { ...typeOf, ...same } },
  },
  reviews: {
    sdl: `
      type Query { latest: Review }
      scalar Json
      type Book @key(fields: "id") {
        id: ID! weight: Int @external cost(in: WriteTransaction = EUR): Int @external
        reviews(atLeast: Int): [Review!]! postage: Int @requires(fields: "weight cost(in: CENT)")
      }
      enum WriteTransaction { EUR CENT }
      type Review @key(fields: "id") { id: ID! body: String! stars: Int author: Author book: Book! strict: String! }
      type Author @key(fields: "id") { id: ID! }`,
    resolvers: {
      Query: { latest: Query.latest },
      Book: {
        ...BookReviews,
        postage: (source: { weight?: number | null; cost?: number }) => (source.weight ?? 0) + (source.cost ?? Number.NaN),
        __resolveReference: (reference: Ref) => reference,
      },
      Review: { ...Review, ...same },
    },
  },
  authors: {
    sdl: `
      type Query { author(id: ID!): Author }
      scalar Json
      type Author @key(fields: "id") { id: ID! name: String! nick: String favourite: Book meta: Json }
      type Book @key(fields: "id", resolvable: false) { id: ID! }`,
    resolvers: {
      Query: { author: (_: unknown, { id }: { id: string }) => (Object.hasOwn(authors, id) ? author(id) : null) },
      Author: { ...Author, ...known },
      Json,
    },
  },
  likes: {
    sdl: 'type Node @key(fields: "id") @interfaceObject { id: ID! likes: Int }',
    resolvers: { Node: { likes: likesOf, __resolveReference: (reference: Ref) => reference } },
  },
}

const live = (source: unknown) => (source && Object.hasOwn(authors, (source as Ref).id) ? source : null)

/** Resolvers for one schema that holds everything. */
export const monolith: Record<string, Record<string, unknown>> = {
  Query: { ...Query, author: (_: unknown, { id }: { id: string }) => live(author(id)) },
  Book: {
    ...Book,
    ...BookReviews,
    likes: likesOf,
    postage: (source: Ref) => (books[source.id]!.weight ?? 0) + Book.cost(source, { in: 'CENT' }),
  },
  Review,
  Author: { ...Author, likes: likesOf },
  Found: typeOf,
  Node: typeOf,
}
