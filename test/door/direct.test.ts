import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../router/engine/engine.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

type Door = Awaited<ReturnType<typeof openRouter>>
/** The same graph behind both ways. */
let short: Door
let long: Door

/** Refuses whole what is called so, as the engine refuses what costs too much: alone, or beside a mistake of the client's. */
const refusing = (engine: Engine): Engine => ({
  ...engine,
  async execute(request) {
    const codes = { Refused: ['OPERATION_TOO_EXPENSIVE'], Mixed: ['BAD_USER_INPUT', 'OPERATION_TOO_EXPENSIVE'] }[request.operationName ?? '']
    return codes ? { errors: codes.map(code => new GraphQLError(`It is ${code}.`, { extensions: { code } })) } : engine.execute(request)
  },
})

beforeAll(async () => {
  const engine = refusing(schemaEngine(smallGraph()))
  short = await openRouter(engine, { environment: 'production' })
  long = await openRouter(engine, { environment: 'production', direct: false })
})
afterAll(() => Promise.all([short.close(), long.close()]))

/** Everything of an answer that does not differ from one request to the next. */
async function answerOf(door: Door, body: string, accept: string | undefined) {
  const { status, headers, text } = await door.ask('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(accept !== undefined && { accept }) },
    body,
  })
  const { date: _date, 'x-request-id': id, ...rest } = headers
  return { status, headers: rest, text: text.replaceAll(String(id), 'the request') }
}

const documents = [
  '{ hello }',
  'query A($name: String) { hello(name: $name) }',
  'query A($name: String!) { hello(name: $name) }',
  'mutation M { rename(name: "x") }',
  '{ refuse }',
  '{ crash hello }',
  '{ a: hello refuse viewer { kind again { roles } } __typename }',
  'query A { hello } query B { refuse }',
  'query Refused { hello }',
  'query Mixed { hello }',
  '{ __typename }',
  '{ __schema { queryType { name } } }',
  'subscription { tick }',
  'fragment F on Query { hello }',
  '{ nothing }',
  '{',
  '',
]
const accepts = [
  undefined,
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json; charset=utf-8, application/json; charset=utf-8',
  'application/json, application/graphql-response+json;q=0.9',
  'application/graphql-response+json, application/json;q=0.9',
  'text/html',
  'image/*',
  'multipart/mixed;deferSpec=20220824,application/json',
  'text/event-stream',
  'text/event-stream, application/json;q=0.9',
  'multipart/mixed;subscriptionSpec="1.0", application/json',
]
/** Whether the answer is a stream, which has no end. */
const isStream = (query: string, accept: string | undefined) => query.startsWith('subscription') && /event-stream|subscriptionSpec/.test(accept ?? '')
const odd = [undefined, null, 'A', 'B', 'nobody', '', 7, true, [], ['A'], {}, { name: 'Ada' }, { name: null }, { name: 7 }, { name: { a: 1 } }]

test('S-12 usual requests are answered without Apollo Server exactly as by it: status, headers and body', async () => {
  const counted = { all: 0, answered: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...documents),
      fc.constantFrom(...odd),
      fc.constantFrom(...odd),
      fc.constantFrom(undefined, undefined, null, {}, { client: 1 }, 'x', []),
      fc.constantFrom(...accepts),
      async (query, operationName, variables, extensions, accept) => {
        fc.pre(!isStream(query, accept))
        const body = JSON.stringify({ query, operationName, variables, extensions })
        const [one, other] = [await answerOf(short, body, accept), await answerOf(long, body, accept)]
        expect(one, `${body}\naccept: ${accept}`).toEqual(other)
        counted.all++
        if (one.status === 200) counted.answered++
        else counted.refused++
      },
    ),
    { seed: 20_261_122, numRuns: 1500 },
  )
  expect([counted.answered, counted.refused].every(count => count > counted.all / 10)).toBe(true)
}, 120_000)

test('answers every document under every Accept header alike with and without Apollo Server', async () => {
  for (const query of documents)
    for (const accept of accepts.filter(each => !isStream(query, each))) {
      const body = JSON.stringify({ query, variables: { name: 'Ada' } })
      expect(await answerOf(short, body, accept), `${query}\naccept: ${accept}`).toEqual(await answerOf(long, body, accept))
    }
})
