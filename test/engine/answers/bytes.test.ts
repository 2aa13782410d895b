import { expect, test } from 'vitest'
import { exactly, requireFits, sizeOf } from '../../../router/engine/data/bytes.ts'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { answerOf, codesOf, eventSource, type Part, testGraph } from '../supergraph-fixture.ts'

const events = eventSource()
const texts: Readonly<Record<string, string>> = {
  plain: 'a',
  quotes: '"',
  control: '\u0001',
  tab: '\t',
  umlaut: 'ä',
  sign: '漢',
  emoji: '😀',
  half: '\ud83d',
  odd: '\udc00\ud83d',
  delete: '\u007f',
}
const part: Part = {
  sdl: `type Query { things(count: Int!, text: String!, times: Int!): [Thing] } type Subscription { thing: Thing } scalar Any
    type Thing { text: String id: ID! words: [String] number: Int flag: Boolean kind: Kind any: Any nothing: String } enum Kind { LARGE SMALL }`,
  resolvers: {
    Query: {
      things: (_: unknown, { count, text, times }: { count: number; text: string; times: number }) =>
        Array.from({ length: count }, () => ({ ...rest, text: texts[text]!.repeat(times) })),
    },
    Subscription: {
      thing: { subscribe: () => events.listen(['thing']), resolve: ({ times }: { times: string }) => ({ text: texts.control!.repeat(Number(times)) }) },
    },
  },
}
const rest = { id: 'ä', words: ['b', null], number: 12, flag: false, kind: 'SMALL', any: { deep: ['"', 1.5, true, null] } }
const everything = '{ text id words number flag kind any nothing }'

const bytesOf = (data: unknown) => Buffer.byteLength(JSON.stringify(data))

test('measures a text as JSON writes it in UTF-8', () => {
  for (const text of Object.values(texts))
    for (const times of [1, 2, 3]) expect(exactly(text.repeat(times))).toBe(Buffer.byteLength(JSON.stringify(text.repeat(times))))
  const value = { text: 'ä"', list: [1, 'b', { c: null }] }
  expect(sizeOf(value, exactly)).toBeGreaterThanOrEqual(bytesOf(value))
  expect(() => requireFits(value, 1000)).not.toThrow()
  expect(() => requireFits(value, 10)).toThrow('10 bytes')
})

test.each(Object.keys(texts))('rejects an answer as soon as it exceeds the byte limit, and not before: %s', async text => {
  const document = `query ($text: String!) { things(count: 40, text: $text, times: 30) { ...on Thing ${everything} a: text b: text } }`
  const whole = await testGraph({ part }).run(document, { text })
  expect(whole.errors).toBeUndefined()
  const bytes = bytesOf(whole.data)
  // Interpreted at first, generated later: both draw the line at the same place.
  const enough = testGraph({ part }, { answerBytes: bytes + 400 })
  const little = testGraph({ part }, { answerBytes: bytes - 1 })
  for (let run = 0; run < 5; run++) {
    expect(await enough.run(document, { text })).toEqual(whole)
    const refused = await little.run(document, { text })
    expect([refused.data, codesOf(refused)]).toEqual([null, ['OPERATION_TOO_EXPENSIVE']])
    expect(refused.errors![0]!.message).toMatch(/bytes; ask for fewer/)
  }
})

test('rejects aliases over one long text without writing them out', async () => {
  const graph = testGraph({ part })
  const aliases = Array.from({ length: 15 }, (_, at) => `a${at}: text`).join(' ')
  const before = process.memoryUsage().heapUsed
  const answer = await graph.run(`{ things(count: 100, text: "control", times: 50000) { ${aliases} } }`)
  expect(codesOf(answer)).toEqual(['OPERATION_TOO_EXPENSIVE'])
  expect(answer.errors![0]!.message).toMatch(/16 MiB/)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100e6)
})

test('an event that is too large fails only that event', async () => {
  const stream = (await testGraph({ part }, { answerBytes: 10_000 }).subscribe('subscription { thing { text } }')) as ResultStream
  events.announce('thing', { times: '5000' })
  expect(codesOf(answerOf((await stream.next()).value))).toEqual(['OPERATION_TOO_EXPENSIVE'])
  events.announce('thing', { times: '5' })
  expect(answerOf((await stream.next()).value).data).toEqual({ thing: { text: texts.control!.repeat(5) } })
  await stream.return()
})

test('rejects introspection that multiplies like other lists', async () => {
  const many = Array.from({ length: 60 }, (_, at) => `a${at}: __schema { types { ...T } }`).join(' ')
  const fields = Array.from({ length: 20 }, (_, at) => `t${at}: type { name kind } `).join(' ')
  const sdl = `type Query { ${Array.from({ length: 200 }, (_, at) => `f${at}(a: Int, b: Int): Int`).join(' ')} }`
  const answer = await testGraph({ wide: { sdl } }).run(`{ ${many} } fragment T on __Type { fields { name args { ${fields} } } }`)
  expect(codesOf(answer)).toEqual(['BAD_USER_INPUT'])
})
