import { expect, test } from 'vitest'
import type { Caller } from '../../router/access/authenticate.ts'
import { createOwnKeyRates, createSharedKeyRates, type KeyRates } from '../../router/live/key-rates.ts'
import type { KeyUse } from '../../subgraphs/authority.ts'
import { emptyLedger, lend } from '../../subgraphs/identity/api-key/lend.ts'
import { anonymous, key } from '../kit/viewers.ts'

const caller = (perMinute: number, keyId = 'k'): Caller => ({
  viewer: key('acme', [], keyId),
  credential: { kind: 'key', id: 'hash', expiresAt: null, perMinute },
})

/** Whether it may: null where it may not. */
async function may(rates: KeyRates, by: Caller): Promise<true | { code: unknown; retryAfter: unknown }> {
  try {
    await rates.count(by)
    return true
  } catch (error) {
    const { code, retryAfter } = (error as { extensions: { code: unknown; retryAfter: unknown } }).extensions
    return { code, retryAfter }
  }
}

test('a single process allows exactly the limit within any 60 seconds, however the uses are spread', async () => {
  let now = 0
  const rates = createOwnKeyRates(() => now)
  const taken: number[] = []
  // Bursts and gaps that do not repeat: the fraction of a growing number is as good as chance.
  for (let at = 1; at < 4000; at += 1) {
    now += Math.floor(((at * 0.618_033_988_7) % 1) ** 4 * 400)
    const within = taken.filter(each => each > now - 60_000).length
    const answer = await may(rates, caller(37))
    expect(answer === true).toBe(within < 37)
    if (answer === true) taken.push(now)
    else expect(answer).toEqual({ code: 'RATE_LIMITED', retryAfter: Math.ceil((taken.at(-37)! + 60_000 - now) / 1000) })
  }
  expect(taken.length).toBeGreaterThan(200)
})

test('a single process counts each key separately, and no callers without a key', async () => {
  const rates = createOwnKeyRates(() => 0)
  expect([await may(rates, caller(1, 'a')), await may(rates, caller(1, 'b'))]).toEqual([true, true])
  expect(await may(rates, caller(1, 'a'))).toEqual({ code: 'RATE_LIMITED', retryAfter: 60 })
  const nobody: Caller = { viewer: anonymous, credential: { kind: 'none', id: null, expiresAt: null } }
  for (let at = 0; at < 5; at += 1) expect(await may(rates, nobody)).toBe(true)
})

/** Several routers before one ledger, which a clock moves. */
function several(count: number) {
  let now = 1_000_000
  let asked = 0
  const ledgers = new Map<string, typeof emptyLedger>()
  const authority = {
    async lendKeys(uses: readonly KeyUse[]) {
      asked += 1
      await new Promise(setImmediate)
      return uses.map(use => {
        const { ledger, loan } = lend(ledgers.get(use.keyId) ?? emptyLedger, use, now)
        ledgers.set(use.keyId, ledger)
        return loan
      })
    },
  }
  const routers = Array.from({ length: count }, () => createSharedKeyRates(authority, () => now))
  return {
    routers,
    pass: (ms: number) => {
      now += ms
    },
    get asked() {
      return asked
    },
    [Symbol.dispose]: () => {
      for (const router of routers) router.stop()
    },
  }
}

const passed = (answers: readonly unknown[]) => answers.filter(answer => answer === true).length

test('two routers under a burst at the same moment allow the limit, and at most a tenth more', async () => {
  using world = several(2)
  const storm = () => Promise.all(world.routers.flatMap(router => Array.from({ length: 400 }, () => may(router, caller(600)))))
  const first = passed(await storm())
  expect(first).toBeGreaterThanOrEqual(600)
  world.pass(30_000)
  const second = passed(await storm())
  expect(first + second).toBeLessThanOrEqual(660)
  world.pass(30_251)
  expect(passed(await storm())).toBeGreaterThanOrEqual(600 - second)
})

test('a router with all the traffic of a key gives it the full rate, although others hold a part', async () => {
  using world = several(3)
  for (const router of world.routers) await may(router, caller(600))
  const answers = await Promise.all(Array.from({ length: 700 }, () => may(world.routers[0]!, caller(600))))
  expect(passed(answers)).toBeGreaterThanOrEqual(597)
  expect(passed(answers)).toBeLessThanOrEqual(660)
  expect(answers.at(-1)).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 })
})

test('a small limit is exact, whichever of the routers is asked', async () => {
  using world = several(3)
  const answers: unknown[] = []
  for (let at = 0; at < 12; at += 1) answers.push(await may(world.routers[at % 3]!, caller(5)))
  expect(passed(answers)).toBe(5)
  expect(answers.slice(0, 5).every(answer => answer === true)).toBe(true)
})

test('steady use needs a call now and then, and rejected requests none', async () => {
  using world = several(1)
  for (let at = 0; at < 600; at += 1) {
    expect(await may(world.routers[0]!, caller(6000))).toBe(true)
    world.pass(10)
  }
  // Six seconds.
  expect(world.asked).toBeLessThanOrEqual(8)
  for (let at = 0; at < 5; at += 1) await may(world.routers[0]!, caller(5, 'small'))
  const before = world.asked
  for (let at = 0; at < 100; at += 1) expect(await may(world.routers[0]!, caller(5, 'small'))).not.toBe(true)
  expect(world.asked - before).toBeLessThanOrEqual(1)
})

test('rejects all requests of keys while identity does not answer, but not as over the limit', async () => {
  const rates = createSharedKeyRates({ lendKeys: () => Promise.reject(new Error('away')) })
  expect(await may(rates, caller(600))).toMatchObject({ code: 'UPSTREAM_FAILED' })
  rates.stop()
})
