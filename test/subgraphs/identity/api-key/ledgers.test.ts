import { beforeEach, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { createSharedKeyRates } from '../../../../router/live/key-rates.ts'
import type { KeyUse } from '../../../../subgraphs/authority.ts'
import { countStatements } from '../../../kit/statements.ts'
import { key } from '../../../kit/viewers.ts'
import { freshIdentity } from '../identity-world.ts'

const open = freshIdentity()
let keyId: string
beforeEach(() => {
  keyId = newId()
})

const use = (more: Partial<KeyUse> = {}): KeyUse => ({ router: newId(), keyId, perMinute: 100, used: [], want: 1, spare: 0, ...more })
const lend = (...uses: KeyUse[]) => open.identity.authority.lendKeys(uses)

it('fifty routers that ask at the same moment get no more than the limit', async () => {
  const loans = await Promise.all(Array.from({ length: 50 }, () => lend(use({ want: 3 }))))
  expect(loans.reduce((sum, [loan]) => sum + loan!.granted, 0)).toBe(100)
  expect(await lend(use())).toEqual([{ granted: 0, spare: 0, waitMs: expect.any(Number) }])
  open.clock.advance(60_250)
  expect((await lend(use()))[0]!.granted).toBe(1)
})

it('handles any number of keys with three statements in one transaction', async () => {
  const uses = Array.from({ length: 30 }, () => use({ keyId: newId() }))
  expect((await lend(...uses)).map(({ granted }) => granted)).toEqual(Array(30).fill(1))
  const { statements } = await countStatements(() => lend(...uses.toReversed(), uses[0]!))
  expect(statements.map(text => text.trim().split(' ')[0]!.toLowerCase())).toEqual(['begin', 'select', 'update', 'commit'])
  expect(await lend()).toEqual([])
})

it('routers that name the same keys in another order cause no deadlock', async () => {
  const keys = Array.from({ length: 8 }, () => newId())
  const all = (order: readonly string[]) => lend(...order.map(key => use({ keyId: key })))
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => all(at % 2 ? keys : keys.toReversed())))
  expect(answers.flat().every(({ granted }) => granted === 1)).toBe(true)
})

it('two routers under a burst with one key allow its limit, and at most a tenth more', async () => {
  const by = { viewer: key('acme', [], keyId), credential: { kind: 'key', id: 'hash', expiresAt: null, perMinute: 300 } } as const
  const routers = [1, 2].map(() => createSharedKeyRates(open.identity.authority))
  const may = (at: number) => Promise.resolve(routers[at % 2]!.count(by)).then(() => true)
  const answers = await Promise.all(Array.from({ length: 800 }, async (_, at) => may(at).catch(() => false)))
  const through = answers.filter(Boolean).length
  expect(through).toBeGreaterThanOrEqual(300)
  expect(through).toBeLessThanOrEqual(330)
  for (const router of routers) router.stop()
})
