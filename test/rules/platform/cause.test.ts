import { describe, expect, test } from 'vitest'
import { type Cause, callIs, causeHeaders, causeId, causeNow, doFor, readClient, readProgram, splitCause, withCause } from '../../../platform/caller/cause.ts'

describe('the context of work', () => {
  test('includes everything that the work starts, until another context replaces it', async () => {
    const cause = { requestId: 'one' }
    await doFor(cause, async () => {
      await Promise.resolve()
      expect([causeNow(), doFor({ job: '2' }, causeNow), doFor(null, causeNow), causeNow()]).toEqual([cause, { job: '2' }, undefined, cause])
      const { promise, resolve } = Promise.withResolvers<unknown>()
      doFor(null, () => setTimeout(() => resolve(causeNow()), 1))
      expect(await promise).toBeUndefined()
    })
    expect(causeNow()).toBeUndefined()
  })

  test.each<readonly [Cause | null, string | undefined]>([
    [{ requestId: 'r', cause: 'c', fact: 'f' }, 'r'],
    [{ cause: 'c', fact: 'f', job: 'j' }, 'c'],
    [{ fact: 'f', job: 'j' }, 'f'],
    [{ job: 'j' }, undefined],
    [null, undefined],
  ])('for %j is found under %j', (cause, id) => {
    expect(doFor(cause, causeId)).toBe(id)
  })

  test('names the caller once known; without a caller it names none', () => {
    const cause: Cause = { requestId: 'one' }
    doFor(cause, () => callIs('user:1'))
    expect(cause).toEqual({ requestId: 'one', caller: 'user:1' })
    doFor(null, () => callIs('user:2'))
    expect(cause.caller).toBe('user:1')
  })
})

describe('a job', () => {
  test('carries its cause beside its data, and its handler sees only the data', () => {
    const data = { postId: '1' }
    const written = doFor({ requestId: 'one', caller: 'user:1', client: 'web' }, () => withCause(data))
    expect(written).not.toEqual(data)
    expect(splitCause(written)).toEqual({ cause: { cause: 'one', caller: 'user:1', client: 'web' }, data })
  })

  test('that another job causes has the same id', () => {
    const first = splitCause(doFor({ requestId: 'one', client: 'web' }, () => withCause({})))
    const second = splitCause(doFor({ ...first.cause, queue: 'q', job: 'j' }, () => withCause({})))
    expect(second.cause).toEqual({ cause: 'one', client: 'web' })
  })

  test('of which nothing is known carries its data alone', () => {
    for (const cause of [null, { job: 'j' }]) expect(doFor(cause, () => withCause({ postId: '1' }))).toEqual({ postId: '1' })
    expect(splitCause({ postId: '1' })).toEqual({ cause: {}, data: { postId: '1' } })
  })
})

describe('a client', () => {
  const client = (given: Record<string, unknown>) => readClient(name => given[name])

  test.each([
    [{ 'graphql-client-name': 'ios', 'graphql-client-version': '3', 'user-agent': 'x' }, 'ios@3'],
    [{ 'apollographql-client-name': 'web', 'graphql-client-name': 'other', 'apollographql-client-version': '4', 'graphql-client-version': '5' }, 'web@4'],
    [{ 'apollographql-client-name': '', 'graphql-client-name': 'other' }, 'other'],
    [{ 'graphql-client-name': ['two', 'names'], 'user-agent': 'curl/8' }, 'curl/8'],
    [{ 'x-graphql-client-name': 'tv', 'x-graphql-client-version': '4' }, 'tv@4'],
    [{ 'apollographql-client-version': '3', 'user-agent': 'curl/8' }, 'curl/8'],
    [{ 'user-agent': `a\n\u2028~ \x7f${'x'.repeat(500)}` }, `a??~ ?${'x'.repeat(94)}`],
    [{}, undefined],
  ])('that says %j is %j', (headers, name) => {
    expect(client(headers)).toBe(name)
  })

  test.each([
    [{ 'apollographql-client-name': 'web', 'apollographql-client-version': '3.2', 'graphql-client-name': 'no' }, 'web', '3.2'],
    [{ 'graphql-client-name': 'ios', 'apollographql-client-version': '1' }, 'ios', 'unknown'],
    [{ 'x-graphql-client-name': 'tv', 'x-graphql-client-version': '4' }, 'tv', '4'],
    [{ clientName: 'socket', clientVersion: '5' }, 'socket', '5'],
    [{ 'graphql-client-name': 'x'.repeat(101), 'graphql-client-version': 'é' }, 'other', 'other'],
    [{ 'graphql-client-name': 3, 'user-agent': 'curl/8' }, 'unknown', 'unknown'],
  ])('that says %j is counted as %s of version %s', (headers: Record<string, unknown>, name, version) => {
    expect(readProgram(each => headers[each])).toEqual({ name, version })
  })

  test('is named to other processes of the platform', () => {
    expect(doFor({ client: 'web@4' }, causeHeaders)).toEqual(['graphql-client-name', 'web@4'])
    expect([doFor({ requestId: 'one' }, causeHeaders), doFor(null, causeHeaders)]).toEqual([[], []])
  })
})
