import { describe, expect, it } from 'vitest'
import { type Stage, send, stage } from './stage.ts'

const read = ({ sandbox }: Stage, path: string, headers: Record<string, string> = { 'x-service-id': 'service-1', 'x-app-id': 'app_agents' }) =>
  send(`${sandbox.origin}/developers/api/mobile-apps${path}`, { headers })
const asked = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/requests?network=developers`)).body

describe('the sandbox’s developer platform', () => {
  it('lists apps with the artifacts of each kind of phone, and notes who asked', async () => {
    await using world = await stage()
    const { status, body } = await read(world, '')
    expect([
      status,
      body.apps.map(({ name, artifacts }: { name: string; artifacts: { platform: string }[] }) => [name, artifacts.map(each => each.platform)]),
    ]).toEqual([
      200,
      [
        ['Supergraph One', ['android', 'ios']],
        ['Supergraph Field', ['android']],
      ],
    ])
    expect(body.apps[0].artifacts[0]).toMatchObject({
      identifier: 'com.example.supergraph.one',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: 48_200_000,
    })
    expect((await read(world, '/app-field')).body).toEqual(body.apps[1])
    expect(await asked(world)).toMatchObject([
      { path: '/developers/api/mobile-apps', status: 200, serviceId: 'service-1', appId: 'app_agents' },
      { status: 200 },
    ])
  })

  it('refuses unknown apps, and callers that do not say who they are', async () => {
    await using world = await stage()
    expect((await read(world, '/none')).status).toBe(404)
    expect((await read(world, '', { 'x-app-id': 'app_agents' })).status).toBe(401)
    expect((await asked(world)).map(({ serviceId }: { serviceId: string | null }) => serviceId)).toEqual(['service-1', null])
  })

  it('spends its faults by reads', async () => {
    await using world = await stage()
    await world.arm({ network: 'developers', fault: 'status', status: 503 })
    expect([(await read(world, '')).status, (await read(world, '')).status]).toEqual([503, 200])
    expect((await asked(world)).map(({ outcome }: { outcome: string }) => outcome)).toEqual(['faulted', 'read'])
  })
})
