import { describe, expect, test } from 'vitest'
import { incrementalWritingOf } from '../../router/door/streaming/incremental-form.ts'

const of = (accept: string | undefined) => {
  const writing = incrementalWritingOf(accept)
  return writing && [writing.name, writing.form, writing.contentType]
}

const [v02, old, plain] = [
  ['multipart', 'v0.2', 'multipart/mixed;boundary="-";incrementalSpec=v0.2'],
  ['multipart', '20220824', 'multipart/mixed;boundary="-";deferSpec=20220824'],
  ['multipart', '20220824', 'multipart/mixed;boundary="-"'],
]
const [sse, oldSse] = [
  ['sse', 'v0.2', 'text/event-stream; charset=utf-8'],
  ['sse', '20220824', 'text/event-stream; charset=utf-8'],
]

describe('the form of incremental answers by the Accept header', () => {
  test.each([
    ['Apollo Client 4, GraphQL17Alpha9Handler', 'multipart/mixed;incrementalSpec=v0.2,application/graphql-response+json,application/json;q=0.9', v02],
    ['Apollo Client 4, Defer20220824Handler', 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9', old],
    ['Apollo Kotlin', 'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json', old],
    ['urql', 'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed', plain],
    ['meros', 'multipart/mixed', plain],
    ['quoted and spaced parameters', 'multipart/mixed ; boundary="-" ; incrementalSpec = "v0.2"', v02],
    ['a comma within quotes', 'multipart/mixed;boundary=",";deferSpec="20220824", application/json', old],
    ['the higher quality', 'multipart/mixed;incrementalSpec=v0.2;q=0.5, multipart/mixed;deferSpec=20220824;q=0.9', old],
    ['the first of equal ones', 'multipart/mixed;deferSpec=20220824, multipart/mixed;incrementalSpec=v0.2', old],
    ['multipart of the same quality as JSON, behind it', 'application/json, multipart/mixed;incrementalSpec=v0.2', v02],
    ['JSON preferred to multipart', 'multipart/mixed;deferSpec=20220824;q=0.5, application/json', null],
    ['anything preferred to multipart', 'multipart/mixed;q=0.5, */*', null],
    ['a form that is not known', 'multipart/mixed;incrementalSpec=v9', null],
    ['a form that is refused', 'multipart/mixed;deferSpec=20220824;q=0', null],
    ['subscriptions over multipart', 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json', null],
    ['server-sent events', 'text/event-stream', sse],
    ['server-sent events of 2022', 'text/event-stream;deferSpec=20220824', oldSse],
    ['JSON preferred to server-sent events', 'application/json, text/event-stream;q=0.5', null],
    ['JSON', 'application/json', null],
    ['anything', '*/*', null],
    ['nothing', undefined, null],
  ])('%s', (_what, accept, expected) => expect(of(accept)).toEqual(expected))
})
