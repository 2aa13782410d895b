import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import {
  buildSchema,
  execute,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type GraphQLUnionType,
  parse,
} from 'graphql'
import { compileQuery } from 'graphql-jit'
import { describe, expect, test } from 'vitest'
import { stillThere } from './still.ts'

const schemaOf = (sdl: string, resolvers: Readonly<Record<string, GraphQLFieldResolver<never, unknown>>> = {}): GraphQLSchema => {
  const schema = buildSchema(sdl)
  for (const [coordinate, resolve] of Object.entries(resolvers)) {
    const [type, field] = coordinate.split('.') as [string, string]
    ;(schema.getType(type) as GraphQLObjectType).getFields()[field]!.resolve = resolve as GraphQLFieldResolver<unknown, unknown>
  }
  return schema
}

/** One operation as graphql-js answers it, and as graphql-jit does. */
async function both(schema: GraphQLSchema, text: string, variables: Record<string, unknown> = {}) {
  const document = parse(text)
  const compiled = compileQuery(schema, document)
  const answer = async () => {
    if (!('query' in compiled)) throw new Error(`not compiled: ${compiled.errors}`)
    return compiled.query({}, {}, variables)
  }
  return { js: await execute({ schema, document, rootValue: {}, variableValues: variables }), jit: await answer().catch((cause: Error) => String(cause)) }
}

const differ = ({ js, jit }: Awaited<ReturnType<typeof both>>): boolean => JSON.stringify(js.data) !== JSON.stringify((jit as { data?: unknown }).data)

describe('the compiler (graphql-jit), called directly,', () => {
  test('puts null at the end of a list for an element that is rejected after the others have come', async () => {
    const y = Promise.resolve('y')
    const a = () => [y.then(() => Promise.reject(new Error('no'))), 'x', y]
    const { js, jit } = await both(schemaOf('type Query { a: [String] }', { 'Query.a': a }), '{ a }')
    expect(js.data).toEqual({ a: [null, 'x', 'y'] })
    stillThere('repairs/jit-rejected-elements', JSON.stringify(jit).includes('[null,"x","y",null]'))
  })

  test('accepts null of a scalar as a value', async () => {
    const schema = schemaOf('scalar N type Query { a: N }', { 'Query.a': () => 1 })
    ;(schema.getType('N') as GraphQLScalarType).serialize = () => null
    const { js, jit } = await both(schema, '{ a }')
    expect(js.errors).toHaveLength(1)
    stillThere('repairs/jit-null-scalars', (jit as typeof js).errors === undefined)
  })

  test('reports a rejected argument by the message only', async () => {
    const { js, jit } = await both(schemaOf('type Query { a(n: Int!): Int }'), 'query ($n: Int = 1) { a(n: $n) }', { n: null })
    expect(js.errors![0]!.originalError).toBeDefined()
    const [error] = (jit as typeof js).errors!
    expect(error!.message).toMatch(/^Argument "n"/)
    stillThere('repairs/jit-uncoded-arguments', error!.originalError === undefined)
  })

  test('reports rejected variables with another message', async () => {
    const { js, jit } = await both(schemaOf('type Query { a(n: Int!): Int }'), 'query ($n: Int!) { a(n: $n) }', { n: 'x' })
    stillThere('repairs/jit-uncoded-arguments', js.errors![0]!.message !== (jit as typeof js).errors![0]!.message)
  })

  test('crashes when a resolveType or isTypeOf throws', async () => {
    const refuse = () => {
      throw new Error('who')
    }
    const union = schemaOf('type Query { a: U } union U = A | B type A { x: Int } type B { y: Int }', { 'Query.a': () => ({}) })
    ;(union.getType('U') as GraphQLUnionType).resolveType = refuse
    stillThere('repairs/jit-other-answers', typeof (await both(union, '{ a { __typename } }')).jit === 'string')
    const object = schemaOf('type Query { a: T } type T { x: Int }', { 'Query.a': () => ({}) })
    ;(object.getType('T') as GraphQLObjectType).isTypeOf = refuse
    stillThere('repairs/jit-other-answers', typeof (await both(object, '{ a { x } }')).jit === 'string')
  })

  test('writes literals into its code as JSON, whatever their scalar parses them to', async () => {
    const schema = schemaOf('scalar Link type Query { a(at: Link): String }', { 'Query.a': (_, { at }) => at.constructor.name })
    ;(schema.getType('Link') as GraphQLScalarType).parseLiteral = () => new URL('https://example.com')
    const answers = await both(schema, '{ a(at: "x") }')
    expect(answers.js.data).toEqual({ a: 'URL' })
    stillThere('repairs/jit-other-answers', differ(answers))
  })

  test('ignores a default within a literal that contains a variable', async () => {
    const schema = schemaOf('input I { n: Int = 3 } type Query { a(i: I): String }', { 'Query.a': (_, { i }) => JSON.stringify(i) })
    const answers = await both(schema, 'query ($n: Int) { a(i: { n: $n }) }')
    expect(answers.js.data).toEqual({ a: '{"n":3}' })
    stillThere('repairs/jit-other-answers', differ(answers))
  })

  test('confuses two fields whose types and names, or paths, concatenate to the same text', async () => {
    const types = schemaOf('type Query { a: Post } type Post { sname: String s: Posts } type Posts { name: String }', {
      'Query.a': () => ({ s: {} }),
      'Post.sname': () => 'p',
      'Posts.name': () => 'q',
    })
    stillThere('repairs/jit-other-answers', differ(await both(types, '{ a { sname s { name } } }')))
    const paths = schemaOf('type Query { a: P } type P { name: String b: P }', {
      'Query.a': (_, _args, _context, { fieldName }) => ({ name: fieldName }),
      'P.b': (_, _args, _context, { fieldName }) => ({ name: fieldName }),
    })
    const answers = await both(paths, '{ a { b: b { name } } b_a: a { name } }')
    expect(answers.js.data).toEqual({ a: { b: { name: 'b' } }, b_a: { name: 'a' } })
    stillThere('repairs/jit-other-answers', differ(answers))
  })

  test('generates endless code for a recursive input type', async () => {
    const program = `
      const [{ compileQuery }, { buildSchema, parse }] = await Promise.all([import('graphql-jit'), import('graphql')])
      const compiled = compileQuery(buildSchema('input I { i: I n: Int } type Query { a(i: I): Int }'), parse('query ($i: I) { a(i: $i) }'))
      console.log(compiled.errors?.join())`
    // The less stack, the sooner it is over.
    const { stdout } = await promisify(execFile)(process.execPath, ['--stack-size=200', '--input-type=module', '--eval', program])
    stillThere('repairs/jit-other-answers', stdout.includes('Maximum call stack size exceeded'))
  })
})
