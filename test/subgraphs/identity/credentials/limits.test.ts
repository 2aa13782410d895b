import pg from 'pg'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { claim, settle } from '../../../../subgraphs/identity/credentials/guessing/rules.ts'
import { define } from '../../../../subgraphs/identity/definition.ts'
import type { Identity } from '../../../../subgraphs/identity/nouns/identity.ts'
import { openLimits, sweeping } from '../../../../subgraphs/identity/stores/credentials/limits.ts'
import { countStatements } from '../../../kit/statements.ts'
import { execute, freshIdentity, password, requestSignIn, userViewer, world } from '../identity-world.ts'

const open = freshIdentity()
let made: Awaited<ReturnType<Identity['provision']>>
let other: Identity

beforeEach(async () => {
  made = await open.identity.provision(world)
  other = define(open.anotherProcess(), open.settings)
  return () => other.stop()
})

const pooled = () => {
  const pool = new pg.Pool({ connectionString: open.database.url, max: 4 })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return pool
}

describe('counters shared by several processes of identity', () => {
  const either = (turn: number) => (turn % 2 === 0 ? open.identity : other)
  const statuses = (many: readonly Response[]) => many.map(({ status }) => status)

  it('allow an account ten wrong passwords in total, over all processes', async () => {
    const answers: Response[] = []
    for (let turn = 0; turn < 14; turn++) answers.push(await requestSignIn(either(turn), 'owner@acme.test', 'a wrong password', { address: '203.0.113.9' }))
    expect(statuses(answers)).toEqual([...Array(10).fill(401), ...Array(4).fill(429)])
    expect(Number(answers[13]!.headers.get('retry-after'))).toBeGreaterThan(800)
  })

  it('gives no more to guesses that come at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => requestSignIn(either(turn), 'nobody@acme.test', 'a wrong password', { address: `203.0.113.${turn}` })),
    )
    expect(statuses(answers).filter(status => status === 401)).toHaveLength(10)
  })

  it('allow no eleventh to a known address that asks both processes at the same moment', async () => {
    const home = { address: '198.51.100.7' }
    expect((await requestSignIn(open.identity, 'ada@acme.test', password, home)).status).toBe(200)
    for (let turn = 0; turn < 9; turn++) await requestSignIn(other, 'ada@acme.test', 'a wrong password', { address: '203.0.113.8' })
    const answers = await Promise.all([0, 1].map(turn => requestSignIn(either(turn), 'ada@acme.test', 'a wrong password', home)))
    expect(statuses(answers).sort()).toEqual([401, 429])
  })

  it('reject a stranger to a full account by a read that changes nothing', async () => {
    const from = { address: '203.0.113.9' }
    for (let turn = 0; turn < 11; turn++) await requestSignIn(either(turn), 'owner@acme.test', 'a wrong password', from)
    const { result, statements } = await countStatements(() => requestSignIn(other, 'owner@acme.test', password, from))
    expect(result.status).toBe(429)
    expect(statements.filter(text => /identity\.limits/.test(text))).toEqual([expect.stringMatching(/^select /)])
    expect(statements.filter(text => /^(?:begin|insert|update|delete)/i.test(text))).toEqual([])
  })

  it('survive a restart, and are cleared by a right password', async () => {
    for (let turn = 0; turn < 9; turn++) await requestSignIn(open.identity, 'owner@acme.test', 'a wrong password')
    await other.stop()
    other = define(open.anotherProcess(), open.settings)
    expect((await requestSignIn(other, 'owner@acme.test', password)).status).toBe(200)
    expect((await requestSignIn(open.identity, 'owner@acme.test', 'a wrong password', { address: '203.0.113.77' })).status).toBe(401)
  })

  it('let a known address in at one process although strangers filled the count at another', async () => {
    const home = { address: '198.51.100.7' }
    expect((await requestSignIn(open.identity, 'ada@acme.test', password, home)).status).toBe(200)
    for (let turn = 0; turn < 11; turn++) await requestSignIn(other, 'ada@acme.test', 'a wrong password', { address: '203.0.113.8' })
    expect((await requestSignIn(open.identity, 'ada@acme.test', password, { address: '198.51.100.8' })).status).toBe(429)
    expect((await requestSignIn(other, 'ada@acme.test', password, home)).status).toBe(200)
  })

  it('count a hundred failures of one address over many accounts', async () => {
    const pool = pooled()
    const limits = openLimits(pool, open.settings.secret)
    const address = '203.0.113.99'
    await limits.change([limits.keyOf('address', address)], open.clock.now(), () => ({
      result: null,
      counts: new Map([[limits.keyOf('address', address), { count: 99, since: open.clock.now().getTime(), endsAt: open.clock.now().getTime() + 60_000 }]]),
    }))
    expect((await requestSignIn(open.identity, 'one@acme.test', 'a wrong password', { address })).status).toBe(401)
    expect((await requestSignIn(other, 'two@acme.test', 'a wrong password', { address })).status).toBe(429)
  })

  it('count a thousand public calls of one address, over all processes', async () => {
    let waits = 0
    for (let turn = 0; turn < 992; turn++) waits += (await either(turn).authority.countPublicPosts('192.0.2.1', 1)).waitMs > 0 ? 1 : 0
    expect(waits).toBe(0)
    expect(await open.identity.authority.countPublicPosts('192.0.2.1', 10)).toEqual({ granted: 8, waitMs: 15 * 60_000 })
    expect(await other.authority.countPublicPosts('192.0.2.1', 1)).toEqual({ granted: 0, waitMs: 15 * 60_000 })
    open.clock.advance(15 * 60_000)
    expect(await other.authority.countPublicPosts('192.0.2.1', 1)).toEqual({ granted: 1, waitMs: 0 })
  })

  it('count the addresses that a person tries with addMember', async () => {
    const owner = userViewer(made.users['owner@acme.test']!, made.organizations.acme!, ['owner'])
    const add = 'mutation { addMember(input: { email: "nobody@nowhere.test", roles: [VIEWER] }) { id } }'
    const codes: (string | undefined)[] = []
    for (let turn = 0; turn <= open.settings.quotas.additionsAnHour; turn++) codes.push((await execute(either(turn), owner, add)).code)
    expect([codes.at(-2), codes.at(-1)]).toEqual(['NOT_FOUND', 'RATE_LIMITED'])
  })

  it('store neither IP nor mail addresses, and remove old counts', async () => {
    await requestSignIn(open.identity, 'owner@acme.test', 'a wrong password', { address: '203.0.113.55' })
    const [rows] = (await open.database.sequelize.query('select key, count from identity.limits')) as [{ key: string; count: number }[], unknown]
    expect(rows.map(({ key }) => key.split(' ')[0]).sort()).toEqual(['account', 'address', 'place'])
    expect(JSON.stringify(rows)).not.toMatch(/203\.0|owner/)
    expect((await requestSignIn(open.identity, 'owner@acme.test', password, { address: '203.0.113.55' })).status).toBe(200)
    const [[left]] = (await open.database.sequelize.query(`select count(*)::int as count from identity.limits where key not like 'address %'`)) as [
      { count: number }[],
      unknown,
    ]
    expect(left!.count).toBe(0)
  })
})

describe('a counter', () => {
  it('grants no more than its limit to fifty concurrent callers, and starts again after its window', async () => {
    const limits = openLimits(pooled(), 'a secret')
    const [bound, now] = [{ kind: 'test', most: 7, windowMs: 1_000 }, open.clock.now()]
    const all = await Promise.all(Array.from({ length: 50 }, () => limits.take(bound, 'one', now)))
    expect(all.filter(({ granted }) => granted === 1)).toHaveLength(7)
    expect(new Set(all.map(({ waitMs }) => waitMs))).toEqual(new Set([0, 1_000]))
    expect(await limits.take(bound, 'other', now)).toEqual({ granted: 1, waitMs: 0 })
    expect(await limits.take(bound, 'one', new Date(now.getTime() + 999))).toEqual({ granted: 0, waitMs: 1 })
    expect(await limits.take(bound, 'one', new Date(now.getTime() + 1_000))).toEqual({ granted: 1, waitMs: 0 })
  })

  it('is removed by later ones after its window has ended, however many there were', async () => {
    const pool = pooled()
    const limits = openLimits(pool, 'a secret')
    const now = open.clock.now()
    await pool.query(
      `insert into identity.limits (key, count, since, ends_at)
         select 'test ' || n, 1, $1::timestamptz - interval '1 minute', $1::timestamptz - interval '1 second' from generate_series(1, 6000) n`,
      [now],
    )
    const bound = { kind: 'test', most: 1_000, windowMs: 1_000 }
    for (let turn = 0; turn < 2 * sweeping.every; turn++) await limits.take(bound, `${turn % 5}`, now)
    const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from identity.limits')
    expect(rows[0]!.count).toBe(5)
    // Each change makes four rows at most, so it removes faster than anybody adds.
    expect(sweeping.most).toBeGreaterThan(4 * sweeping.every)
  })

  it('is changed one after another, and stays unchanged when a rule fails', async () => {
    const limits = openLimits(pooled(), 'a secret')
    const now = open.clock.now()
    const [one, two] = ['one', 'two']
    const add = (keys: string[]) =>
      limits.change(keys, now, counts => ({
        result: null,
        counts: new Map(keys.map(key => [key, { count: (counts.get(key)?.count ?? 0) + 1, since: now.getTime(), endsAt: now.getTime() + 1_000 }])),
      }))
    // In opposite orders: two who share keys never wait for each other.
    await Promise.all(Array.from({ length: 20 }, (_, turn) => add(turn % 2 ? [one, two] : [two, one])))
    const fails = limits.change([one], now, () => {
      throw new Error('no')
    })
    await expect(fails).rejects.toThrow('no')
    expect(await limits.change([one, two], now, counts => ({ result: [counts.get(one)?.count, counts.get(two)?.count], counts: new Map() }))).toEqual([20, 20])
  })
})

describe('the reservation of an attempt', () => {
  const nothing = { account: null, address: null, patient: null, place: null }

  it('is returned when its password was not checked', () => {
    const first = claim(nothing, 'strangers', 0)
    expect(settle(first.counts, first.claim!, 'not tried', 5).counts).toEqual(nothing)
    const failed = settle(first.counts, first.claim!, 'wrong', 5).counts
    const second = claim(failed, 'strangers', 10)
    expect(settle(second.counts, second.claim!, 'not tried', 15).counts).toEqual(failed)
  })

  it('is counted although somebody’s right password has cleared the account meanwhile', () => {
    const guess = claim(nothing, 'strangers', 0)
    const person = claim(guess.counts, 'known', 1)
    const cleared = settle(person.counts, person.claim!, 'right', 2).counts
    expect(cleared.account).toBe(null)
    expect(settle(cleared, guess.claim!, 'wrong', 3).counts.account).toMatchObject({ count: 1, since: 3 })
    expect(settle(cleared, guess.claim!, 'not tried', 3).counts.account).toBe(null)
  })

  it('leaves the account of a known address alone until the password was wrong', () => {
    const { claim: taken, counts } = claim(nothing, 'known', 0)
    expect(counts.account).toBe(null)
    expect(settle(counts, taken!, 'wrong', 1).counts.account).toMatchObject({ count: 1 })
  })
})
