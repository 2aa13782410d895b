import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { type RestWorld, restWorld } from './world.ts'

let world: RestWorld
beforeAll(async () => {
  world = await restWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const routes = routeTables.flatMap(({ slug, rows }) =>
  rows.flatMap(row => (row.kind === 'operation' && row.mayBeEmpty ? [`${row.method} /${slug}${row.path}`] : [])),
)

/** Id of a record that does not exist. */
const nothing = newId()

/** Sends a route without any body, about a record that does not exist where it needs one. */
const send = (route: string, body?: unknown) => {
  const [method, path] = route.split(' ') as [string, string]
  return world.ask('super', method, path.replace(':version', '1').replaceAll(/:\w+/g, nothing), body)
}

test('there are routes whose body may be missing', () => {
  expect(routes).toContain('POST /providers/api/models/sync')
})

test.each(routes)('%s takes no body for an empty one', async route => {
  const [without, empty] = [await send(route), await send(route, {})]
  expect([without.status, without.json?.code, without.json?.detail]).toEqual([empty.status, empty.json?.code, empty.json?.detail])
  expect(without.json?.code).not.toBe('BAD_USER_INPUT')
})

test('POST /providers/api/models/sync synchronizes every source without a body', async () => {
  const answer = await send('POST /providers/api/models/sync')
  expect([answer.status, answer.json]).toMatchObject([200, { id: expect.any(String), sources: expect.any(Array) }])
})
