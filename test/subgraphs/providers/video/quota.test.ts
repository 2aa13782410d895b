import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { quotaTables } from '../../../../subgraphs/providers/engines/video/table.ts'
import { person } from '../../../kit/viewers.ts'
import { service, videoWorld } from './stage.ts'

const videoQuota = '{ videoQuota { name dailyLimit used remaining organizationLimit organizationUsed apps { appId used } resetsAt } }'
const setVideoQuota = `mutation($input: SetVideoQuotaInput!) { setVideoQuota(input: $input) { name dailyLimit used remaining organizationLimit organizationUsed } }`
const administrator = (...roles: string[]) => person(newId(), newId(), ['owner', ...roles])

describe('G-09 a quota of the video network', () => {
  test('shows each organization its own use, and no other’s apps', async () => {
    await using world = await videoWorld()
    const { graph, organizationId } = world
    await world.list()
    await world.list(service(organizationId, 'app_films'))
    await world.list(service(newId()))
    const shown = async (id: string) => (await graph.execute(videoQuota, {}, { as: person(newId(), id, ['owner']) })).data().videoQuota
    const resetsAt = '2027-03-02T08:00:00.000Z'
    expect(await shown(organizationId)).toEqual([
      ...['videos.insert', 'search.list'].map(name => ({
        ...{ name, dailyLimit: 100, used: 0, remaining: 100, organizationLimit: null, organizationUsed: 0, apps: [], resetsAt },
      })),
      {
        ...{ name: 'default', dailyLimit: 10_000, used: 3, remaining: 9_997, organizationLimit: null, organizationUsed: 2, resetsAt },
        apps: [
          { appId: 'app_films', used: 1 },
          { appId: 'app_publishing', used: 1 },
        ],
      },
    ])
    expect(await graph.statements(() => graph.execute(videoQuota, {}, { as: person(newId(), organizationId, ['owner']) }))).toHaveLength(1)
  })

  test('respects an organization’s cap under forty concurrent calls, and the platform’s use is the actual one', async () => {
    await using world = await videoWorld()
    const { graph, organizationId } = world
    const as = administrator('platform_super_admin')
    const input = { bucket: 'default', organizationId, dailyLimit: 7 }
    const set = (await graph.execute(setVideoQuota, { input }, { as })).data().setVideoQuota
    expect(set).toEqual({ name: 'default', dailyLimit: 10_000, used: 0, remaining: 7, organizationLimit: 7, organizationUsed: 0 })
    const answers = await Promise.all(Array.from({ length: 40 }, () => world.list()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
    const over = answers.filter(({ status }) => status === 429)
    expect(over).toHaveLength(33)
    expect(await over[0]!.json()).toMatchObject({ reason: 'QUOTA_EXHAUSTED', resetsAt: '2027-03-02T08:00:00.000Z' })
    expect((await world.list(service(newId()))).status).toBe(200)
    expect(await world.used()).toMatchObject([{ bucket: 'default', used: 8 }])
    await graph.execute(setVideoQuota, { input: { ...input, dailyLimit: null } }, { as })
    expect((await world.list()).status).toBe(200)
    const actions = await graph.rows<{ action: string }>("select action from providers.audit_entries where action like 'video%'")
    expect(actions.map(({ action }) => action)).toEqual(['video_quota.updated', 'video_quota.updated'])
  })

  test('respects the platform’s quota over all organizations together', async () => {
    const buckets = { default: 60, 'videos.insert': 100, 'search.list': 100 }
    await using world = await videoWorld({ quotas: { youtubeQuota: { ...quotaTables[2026], buckets } } })
    const remove = (id: string) => world.call('youtube/v3/videos?id=none', { method: 'DELETE', as: service(id) })
    expect((await remove(world.organizationId)).status).toBe(404)
    expect((await remove(newId())).status).toBe(429)
    const few = await Promise.all(Array.from({ length: 20 }, () => world.list(service(newId()))))
    expect(few.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(await world.used()).toMatchObject([{ bucket: 'default', used: 60 }])
  })

  test('restarts at midnight on the Pacific coast', async () => {
    await using world = await videoWorld({ now: '2027-03-02T07:59:00.000Z' })
    expect((await world.list()).headers.get('x-quota-remaining')).toBe('9999')
    expect((await world.list()).headers.get('x-quota-remaining')).toBe('9998')
    await world.graph.clock.advance(60_000)
    const next = await world.list()
    expect([next.headers.get('x-quota-remaining'), next.headers.get('x-quota-resets-at')]).toEqual(['9999', '2027-03-03T08:00:00.000Z'])
    expect((await world.used()).map(({ day }) => day)).toEqual(['2027-03-01', '2027-03-02'])
  })

  test('can be capped by super admins of the platform only, in existing buckets', async () => {
    await using world = await videoWorld()
    const { graph, organizationId } = world
    const input = { bucket: 'default', organizationId, dailyLimit: 1 }
    for (const as of [person(newId(), organizationId, ['owner']), administrator('platform_admin'), service(organizationId)])
      (await graph.execute(setVideoQuota, { input }, { as })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    const as = administrator('platform_super_admin')
    for (const [more, field] of [
      [{ bucket: 'films' }, 'bucket'],
      [{ dailyLimit: -1 }, 'dailyLimit'],
      [{ organizationId: 'mine' }, 'organizationId'],
    ] as const)
      expect((await graph.execute(setVideoQuota, { input: { ...input, ...more } }, { as })).refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })
})
