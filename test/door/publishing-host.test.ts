import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describePlatform } from '../../router/openapi/platform.ts'
import { type RestWorld, restWorld } from '../rest/world.ts'

let world: RestWorld
beforeAll(async () => {
  world = await restWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('P-23 publishing has no fields about billing, referrals or rewards', () => {
  const paths = ['/billing', '/billing/portal', '/referrals', '/referrals/x', '/rewards', '/rewards/x/y']
  test.each(
    paths.flatMap(path => (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map(method => [method, path] as const)),
  )('%s /publishing/api%s is not there, for nobody and for the owner alike', async (method, path) => {
    for (const who of ['nobody', 'owner', 'reader'] as const)
      expect(await world.ask(who, method, path)).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
  })

  test('and neither has the document of its routes', () => {
    const { paths: told } = describePlatform().document
    expect(Object.keys(told).filter(path => path.startsWith('/publishing/') && /billing|referral|reward|subscription/i.test(path))).toEqual([])
  })
})

describe('P-21 CORS headers of routes are replaced', () => {
  test('pages of trusted origins can read upload and record answers, errors included; others cannot', async () => {
    const asked = (origin: string, path: string) => world.ask('owner', 'GET', path, undefined, { origin })
    for (const path of ['/posts', `/posts/${world.brandId}`, '/nothing']) {
      const { headers } = await asked(world.graph.publicUrl, path)
      expect(headers['access-control-allow-origin'], path).toBe(world.graph.publicUrl)
      const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(', ')
      expect(exposed).toEqual(
        expect.arrayContaining('location etag retry-after x-request-id upload-offset upload-length upload-expires tus-resumable x-media-asset-id'.split(' ')),
      )
      expect(Object.keys((await asked('https://evil.example', path)).headers).filter(name => name.startsWith('access-control-'))).toEqual([])
    }
  })
})
