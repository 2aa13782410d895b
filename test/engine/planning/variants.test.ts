import { buildSchema, lexicographicSortSchema, printSchema } from 'graphql'
import { describe, expect, test } from 'vitest'
import type { VariantRule } from '../../../router/engine/graph/variants.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { compose } from '../supergraph-fixture.ts'

const tag = (name: string) => `@tag(name: "${name}")`
const [shown, gone] = [tag('shown'), tag('gone')]

/** Returns a variant of a graph of one subgraph as SDL, without the directives that every graph has. */
function variantOf(sdl: string, rule: VariantRule): string {
  const { variants } = readSupergraph(compose({ only: { sdl } }), { one: rule })
  return printed(printSchema(lexicographicSortSchema(variants.schemaOf('one')!)))
}

const printed = (sdl: string): string =>
  sdl
    .replaceAll(/"""[\s\S]*?"""\n/g, '')
    .replaceAll(/^directive .*\n*/gm, '')
    .trim()
const sorted = (sdl: string): string => printed(printSchema(lexicographicSortSchema(buildSchema(sdl))))

describe('a variant by included tags', () => {
  test('shows fields with a tag, and the types that have one', () => {
    const sdl = `type Query { book(id: ID!): Book ${shown} author: Author }
      type Book { id: ID! ${shown} price: Int } type Author { name: String }`
    expect(variantOf(sdl, { include: ['shown'] })).toBe(sorted('type Query { book(id: ID!): Book } type Book { id: ID! }'))
  })

  test('applies the tag of a type to its fields, and takes any of several tags', () => {
    const sdl = `type Query { book: Book ${shown} shelf: Shelf ${tag('other')} } type Book ${shown} { id: ID! price: Int }
      type Shelf ${tag('other')} { id: ID! }`
    expect(variantOf(sdl, { include: ['shown', 'other'] })).toBe(
      sorted('type Query { book: Book shelf: Shelf } type Book { id: ID! price: Int } type Shelf { id: ID! }'),
    )
    expect(variantOf(sdl, { include: ['shown'] })).toBe(sorted('type Query { book: Book } type Book { id: ID! price: Int }'))
  })

  test('needs no tag on arguments, inputs, enums and scalars', () => {
    const sdl = `type Query { books(of: Filter, order: Order = UP): [Int] ${shown} @listSize(assumedSize: 1) at: Time ${shown} } input Filter { kind: Kind since: Time } enum Kind { NEW OLD }
      enum Order { UP DOWN } scalar Time`
    expect(variantOf(sdl, { include: ['shown'] })).toBe(
      sorted(`type Query { books(of: Filter, order: Order = UP): [Int] at: Time } input Filter { kind: Kind since: Time } enum Kind { NEW OLD }
        enum Order { UP DOWN } scalar Time`),
    )
  })

  test('needs a tag on a union, and shows those of its members that have a field', () => {
    const members = `type Book { id: ID! ${shown} } type Shelf { id: ID! }`
    const sdl = (union: string) => `type Query { found: Found ${shown} book: Book ${shown} } union Found ${union} = Book | Shelf ${members}`
    expect(variantOf(sdl(shown), { include: ['shown'] })).toBe(sorted('type Query { found: Found book: Book } union Found = Book type Book { id: ID! }'))
    // A field of a hidden type is found when the variant is generated.
    expect(() => variantOf(sdl(''), { include: ['shown'] })).toThrow(/Found/)
  })

  test('shows an interface with the fields that have a tag, and leaves it out of its objects otherwise', () => {
    const sdl = (type: string) =>
      `type Query { book: Book ${shown} } interface Node { id: ID! ${type} } type Book implements Node { id: ID! ${shown} price: Int }`
    expect(variantOf(sdl(shown), { include: ['shown'] })).toBe(
      sorted('type Query { book: Book } interface Node { id: ID! } type Book implements Node { id: ID! }'),
    )
    expect(variantOf(sdl(''), { include: ['shown'] })).toBe(sorted('type Query { book: Book } type Book { id: ID! }'))
  })

  test('has no mutation and no subscription where none has a tag', () => {
    const sdl = `type Query { a: Int ${shown} } type Mutation { b(input: Given): Int } type Subscription { c: Int } input Given { d: Int }`
    expect(variantOf(sdl, { include: ['shown'] })).toBe(sorted('type Query { a: Int }'))
  })
})

describe('a variant by excluded tags', () => {
  test('hides elements of each kind', () => {
    const sdl = `type Query { a(x: Int ${gone}, y: Int): Int b: Int ${gone} c: Kind d(given: Given): Book e: Found }
      enum Kind { NEW OLD ${gone} } input Given { f: Int ${gone} g: Int } type Book implements Node { id: ID! price: Int ${gone} }
      union Found = Book | Shelf type Shelf ${gone} { id: ID! } interface Node ${gone} { id: ID! }`
    expect(variantOf(sdl, { exclude: ['gone'] })).toBe(
      sorted(`type Query { a(y: Int): Int c: Kind d(given: Given): Book e: Found } enum Kind { NEW } input Given { g: Int } type Book { id: ID! }
        union Found = Book`),
    )
  })

  test('is stronger than an included tag, of the field and of its type', () => {
    const sdl = `type Query { a: Int ${shown} ${gone} b: Book ${shown} c: Shelf ${shown} ${gone} } type Book ${shown} { id: ID! ${gone} name: String }
      type Shelf ${gone} { id: ID! ${shown} }`
    expect(variantOf(sdl, { include: ['shown'], exclude: ['gone'] })).toBe(sorted('type Query { b: Book } type Book { name: String }'))
  })

  test('hides types to which no field leads, unless it is to keep them', () => {
    const sdl = `type Query { a: Int b: Book ${gone} } type Book { shelf: Shelf } type Shelf { id: ID! kind: Kind } enum Kind { NEW }`
    expect(variantOf(sdl, { exclude: ['gone'] })).toBe(sorted('type Query { a: Int }'))
    expect(variantOf(sdl, { exclude: ['gone'], hideUnreachableTypes: false })).toBe(
      sorted('type Query { a: Int } type Book { shelf: Shelf } type Shelf { id: ID! kind: Kind } enum Kind { NEW }'),
    )
  })

  test('reaches objects by an interface or union that a field has, and not by one that they merely share', () => {
    const sdl = `type Query { a: Named b: Hidden ${gone} } interface Named { name: String } interface Node { id: ID! }
      type Book implements Named & Node { name: String id: ID! } type Hidden implements Node { id: ID! }`
    expect(variantOf(sdl, { exclude: ['gone'] })).toBe(
      sorted('type Query { a: Named } interface Named { name: String } interface Node { id: ID! } type Book implements Named & Node { name: String id: ID! }'),
    )
  })

  test('hides what is inaccessible on the whole graph', () => {
    const sdl = `type Query { a: Int b: Int @inaccessible c(x: Int @inaccessible): Int d: Int ${gone} }`
    expect(variantOf(sdl, { exclude: ['gone'] })).toBe(sorted('type Query { a: Int c: Int }'))
  })
})

test('an unknown variant has no schema, whatever its name', () => {
  const { variants } = readSupergraph(compose({ only: { sdl: `type Query { a: Int ${shown} }` } }), { one: { include: ['shown'] } })
  expect(variants.names).toEqual(['one'])
  for (const name of ['two', 'constructor', '__proto__']) expect(variants.schemaOf(name)).toBeUndefined()
  expect(variants.schemaOf('one')).toBe(variants.schemaOf('one'))
})
