import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { type Cooldowns, createCooldowns, createSharedCooldowns } from '../../../../subgraphs/providers/ai/attempt/cooldown.ts'
import { rests } from '../../../../subgraphs/providers/stores/model/rests.ts'
import { readStanding } from '../../../../subgraphs/providers/stores/model/standing.ts'
import { createTestDatabase } from '../../../kit/database.ts'
import { seedCredential } from '../credential/seed.ts'
import { type AiWorld, aiWorld, chatModel, secondModel } from './world.ts'

// What another process has written is written here past this one, which is told nothing of it.

const modelOf = async (answer: Response) => [answer.status, answer.headers.get('x-gateway-model'), answer.headers.get('x-gateway-attempts')]
const restsIn = ({ graph }: AiWorld) =>
  graph.rows<{ model: string; ms: number | null; failures: number }>(
    'select model, (extract(epoch from until - $1::timestamptz) * 1000)::float8 as ms, failures from providers.candidate_rests order by model',
    [graph.clock.now()],
  )

describe('G-02 a call, with several processes', () => {
  test('uses what another process changed a moment ago: preference, chain, prices, credential and storage of prompts', async () => {
    await using world = await aiWorld({ isAlone: false })
    const { graph, owner } = world
    const plain = () => world.chat('hi', { model: 'default' })
    const changed = async (sql: string, bind: unknown[] = []) => {
      await graph.rows(sql, bind)
      return plain()
    }
    expect(await modelOf(await plain())).toEqual([200, chatModel, '1'])
    const now = graph.clock.now()
    const setting = `(id, level, organization_id, capability, created_at, updated_at, created_by`
    const preference = await changed(`insert into providers.model_preferences ${setting}, model) values ($1, 'ORGANIZATION', $2, 'CHAT', $3, $3, 'test', $4)`, [
      newId(),
      owner.organizationId,
      now,
      secondModel,
    ])
    expect(await modelOf(preference)).toEqual([200, secondModel, '1'])
    expect(await modelOf(await changed('delete from providers.model_preferences where organization_id is not null'))).toEqual([200, chatModel, '1'])
    await graph.rows(`insert into providers.fallback_chains ${setting}, models) values ($1, 'ORGANIZATION', $2, 'CHAT', $3, $3, 'test', '{}')`, [
      newId(),
      owner.organizationId,
      now,
    ])
    await world.arm('openai', { fault: 'status', status: 400 })
    expect((await plain()).status).toBe(400)

    const dear = await changed(`update providers.models set input_micros_per_million = 1e12, version = version + 1 where name = $1`, [chatModel])
    expect(Number(dear.headers.get('x-gateway-cost-micros'))).toBeGreaterThan(1_000_000)
    const retired = await changed(`update providers.models set retires_at = $2, version = version + 1 where name = $1`, [chatModel, now])
    expect(retired.status).toBe(404)
    await graph.rows(`update providers.models set retires_at = null, version = version + 1 where name = $1`, [chatModel])

    const hint = async () => (await plain()) && (await world.received('openai')).at(-1)!.keyHint
    expect(await hint()).toBe('test')
    const job = graph.platform.providers.job('test')
    const own = await seedCredential(graph, { organizationId: owner.organizationId, provider: 'openai', secret: 'sk-sandbox-of-their-own' })
    expect(await hint()).toBe('-own')
    await graph.rows('update providers.credentials set secret = $2, version = version + 1 where id = $1', [
      own.id,
      job.credentials.seal(own.id, 'sk-sandbox-rotated'),
    ])
    expect(await hint()).toBe('ated')
    await graph.rows('delete from providers.credentials where id = $1', [own.id])
    expect(await hint()).toBe('test')

    expect((await world.callOf(await changed(`update providers.organizations set prompt_storage = 'FULL'`))).prompt).toBe('hi')
    expect((await changed(`update providers.organizations set status = 'SUSPENDED'`)).status).toBe(403)
  })

  test('skips a candidate that another process has found limited or failing, and shares a failure before the next attempt', async () => {
    await using world = await aiWorld({ isAlone: false })
    const { graph } = world
    await world.arm('openai', { fault: 'status', status: 429, resetSeconds: 7 })
    expect(await modelOf(await world.chat('hi'))).toEqual([200, secondModel, '2'])
    expect(await restsIn(world)).toEqual([{ model: chatModel, ms: 7_000, failures: 0 }])
    expect(await modelOf(await world.chat('hi', { model: 'gpt-5-mini' }))).toEqual([200, secondModel, '1'])
    const pinned = await world.chat('hi', {}, { headers: { 'x-gateway-fallback': 'off' } })
    expect([pinned.status, pinned.headers.get('retry-after')]).toEqual([429, '7'])
    await graph.rows('truncate providers.candidate_rests')
    expect(await modelOf(await world.chat('hi'))).toEqual([200, chatModel, '1'])

    await world.arm('openai', { fault: 'status', status: 500, times: 3 })
    for (let call = 0; call < 3; call++) expect(await modelOf(await world.chat('hi'))).toEqual([200, secondModel, '2'])
    expect(await restsIn(world)).toMatchObject([{ ms: 15_000 }])
    expect(await modelOf(await world.chat('hi'))).toEqual([200, secondModel, '1'])
    await graph.clock.advance(15_000)
    expect(await modelOf(await world.chat('hi'))).toEqual([200, chatModel, '1'])
  })

  test('ends a series of failures with one success, and old ones are forgotten', async () => {
    await using world = await aiWorld({ isAlone: false })
    await world.arm('openai', { fault: 'status', status: 503, times: 2 })
    for (let call = 0; call < 2; call++) await world.chat('hi')
    expect(await restsIn(world)).toEqual([{ model: chatModel, ms: null, failures: 2 }])
    await world.chat('hi')
    expect(await restsIn(world)).toEqual([])
    await world.arm('openai', { fault: 'status', status: 503 })
    await world.chat('hi')
    await world.graph.clock.run(60_001)
    expect(await restsIn(world)).toEqual([])
  })

  test('costs one statement more, and nothing where the candidate works', async () => {
    await using world = await aiWorld({ isAlone: false })
    await world.chat('hi')
    const statements = await world.graph.statements(async () => void (await (await world.chat('hi')).text()))
    // Beside it the use of its credential may be noted, which nobody waits for.
    const own = statements.filter(text => /providers\.(?:calls|candidate_rests|models|model_preferences|organizations)\b/.test(text) && !/^delete/.test(text))
    expect(own, own.join('\n')).toHaveLength(3)
  })

  test('continues when cooldowns cannot be shared, and logs it', async () => {
    await using world = await aiWorld({ isAlone: false })
    await world.graph.rows('alter table providers.candidate_rests add constraint nothing_goes check (is_limit is null)')
    await world.arm('openai', { fault: 'status', status: 429 })
    expect(await modelOf(await world.chat('hi'))).toEqual([200, secondModel, '2'])
    expect(world.graph.log.filter(line => line.includes('could not be shared with other processes'))).toHaveLength(1)
  })
})

test('G-02 shared cooldowns equal those of a single process, for any sequence of failures', async () => {
  await using database = await createTestDatabase()
  const { sequelize } = database
  const whose = fc.constantFrom(...Array.from({ length: 3 }, () => newId()))
  const what = fc.oneof(
    fc.record({ kind: fc.constant('limited' as const), ms: fc.constantFrom(1, 900, 10_000, 300_000), organizationId: whose }),
    fc.record({ kind: fc.constantFrom('failed' as const, 'failed' as const, 'worked' as const), organizationId: whose }),
    fc.record({ kind: fc.constant('later' as const), ms: fc.constantFrom(1, 14_999, 30_000, 59_999, 60_001), organizationId: whose }),
  )
  const credentialId = newId()
  const [found] =
    (await sequelize.query(`insert into providers.credentials (id, level, provider, name, plain, secret, masked, created_at, updated_at, created_by)
     values ('${credentialId}', 'PLATFORM', 'openai', 'one', '{}', 'v1.k.s', '••••', now(), now(), 'test') returning id`)) as [{ id: string }[], unknown]
  expect(found).toHaveLength(1)
  await fc.assert(
    fc.asyncProperty(fc.array(what, { minLength: 1, maxLength: 14 }), async steps => {
      const model = `openai/${newId()}`
      const own = createCooldowns()
      let now = Date.parse('2027-03-01T09:00:00Z')
      // Each step is another call, of another process.
      const shared = async (organizationId: string): Promise<Cooldowns> =>
        createSharedCooldowns((await readStanding(sequelize, organizationId, [model], new Date(now))).rests, { sequelize, log: pino({ level: 'silent' }) })
      const agree = async () => {
        for (const organizationId of new Set(steps.map(step => step.organizationId))) {
          const who = { credentialId, model, organizationId }
          expect((await shared(organizationId)).restOf(who, now)).toEqual(own.restOf(who, now))
        }
      }
      for (const step of steps) {
        const who = { credentialId, model, organizationId: step.organizationId }
        const theirs = await shared(step.organizationId)
        if (step.kind === 'later') now += step.ms
        else if (step.kind === 'limited') await Promise.all([own.limited(who, step.ms, now), theirs.limited(who, step.ms, now)])
        else await Promise.all([own[step.kind](who, now), theirs[step.kind](who, now)])
        await agree()
      }
      await rests.forget(sequelize, new Date(now))
      await agree()
    }),
    { numRuns: 25 },
  )
})
