import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { genesisHash, hashOf } from '../../../subgraphs/payments/engines/ledger/chain.ts'
import { type Booking, bookings } from '../../../subgraphs/payments/engines/ledger/movements.ts'
import { openProof } from '../../../subgraphs/payments/engines/ledger/proof.ts'
import type { LedgerEntryRow } from '../../../subgraphs/payments/stores/ledger.ts'

const merchantId = newId()
const amount = fc.bigInt(1n, 999_999_999_999n)
const booking: fc.Arbitrary<Booking> = fc.oneof(
  ...[bookings.captured, bookings.refunded, bookings.refundFailed, bookings.disputeOpened, bookings.disputeWon, bookings.disputeLost].map(book =>
    amount.map(book),
  ),
  fc.tuple(fc.string({ minLength: 1, maxLength: 120 }), amount).map(([payer, much]) => bookings.settled(payer, much)),
  fc.tuple(fc.string({ minLength: 1, maxLength: 120 }), amount).map(([payer, much]) => bookings.settlementReversed(payer, much)),
)
const ledger = fc.array(fc.tuple(booking, fc.constantFrom('EUR', 'JPY', 'BHD')), { minLength: 1, maxLength: 12 }).map(chained)

type Entry = Omit<LedgerEntryRow, 'id' | 'organizationId' | 'kind' | 'orderId' | 'settlementBatchId'>

/** A whole chain of these movements, as posting writes it. */
function chained(movements: readonly (readonly [Booking, string])[]): Entry[] {
  const entries: Entry[] = []
  for (const [{ legs }, currency] of movements) {
    const movementId = newId()
    for (const leg of legs) {
      const previousHash = entries.at(-1)?.hash ?? genesisHash
      const entry = { ...leg, merchantId, movementId, currency, sequence: BigInt(entries.length + 1), postedAt: new Date(1_900_000_000_000), previousHash }
      entries.push({ ...entry, hash: hashOf(entry) })
    }
  }
  return entries
}

/** What the entries come to, account by account, counted by other code than the proof's. */
function balancesOf(entries: readonly Entry[]) {
  const keys = [...new Set(entries.map(({ account, currency }) => JSON.stringify([account, currency])))]
  return keys.map(key => {
    const [code, currency] = JSON.parse(key) as [string, string]
    const own = entries.filter(entry => entry.account === code && entry.currency === currency)
    return { code, currency, balanceMinor: String(own.reduce((sum, entry) => sum + entry.amountMinor, 0n)) }
  })
}

function prove(entries: readonly Entry[], accounts = balancesOf(entries), head: { sequence: bigint; hash: string } | null = headOf(entries)) {
  const proof = openProof()
  for (const entry of entries) proof.take(entry)
  return proof.conclude(head, accounts)
}
const headOf = (entries: readonly Entry[]) => ({ sequence: BigInt(entries.length), hash: entries.at(-1)?.hash ?? genesisHash })

describe('a booking', () => {
  it('balances whatever it books', () => {
    fc.assert(
      fc.property(booking, ({ legs }) => {
        expect(legs.length).toBeGreaterThanOrEqual(2)
        expect(legs.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(0n)
      }),
    )
  })

  it('debits the processor and credits the merchant when money is captured, and reverses both for a refund', () => {
    expect(bookings.captured(5n).legs).toEqual([
      { account: 'processor', amountMinor: 5n },
      { account: 'merchant', amountMinor: -5n },
    ])
    expect(bookings.refunded(5n).legs).toEqual([
      { account: 'merchant', amountMinor: 5n },
      { account: 'processor', amountMinor: -5n },
    ])
  })

  it.each([0n, -1n])('is refused when it moves %s', amountMinor => {
    expect(() => bookings.captured(amountMinor)).toThrow(RangeError)
  })
})

describe('hashOf', () => {
  it('is SHA-256 of eight fields, one a line, in the order of the contract', () => {
    const movementId = newId()
    const postedAt = new Date('2027-03-01T09:30:00.007Z')
    const entry = { previousHash: genesisHash, merchantId, sequence: 12n, movementId, account: 'payer:Zoë', amountMinor: -700n, currency: 'JPY', postedAt }
    const text = [genesisHash, merchantId, '12', movementId, 'payer:Zoë', '-700', 'JPY', '2027-03-01T09:30:00.007Z'].join('\n')
    expect(hashOf(entry)).toBe(createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex'))
  })
})

describe('a ledger proof', () => {
  it('holds for every chain of bookings, with totals of zero', () => {
    fc.assert(
      fc.property(ledger, entries => {
        const proof = prove(entries)
        expect(proof).toMatchObject({ ok: true, entries: BigInt(entries.length), headHash: entries.at(-1)!.hash, brokenAt: null, unbalancedMovements: [] })
        expect(proof.totals.every(({ amountMinor }) => amountMinor === 0n)).toBe(true)
      }),
    )
  })

  it('finds the first changed entry, whatever was changed in it', () => {
    const change = fc.constantFrom<(entry: Entry) => Entry>(
      entry => ({ ...entry, amountMinor: entry.amountMinor + 1n }),
      entry => ({ ...entry, account: `${entry.account}x` }),
      entry => ({ ...entry, currency: entry.currency === 'EUR' ? 'USD' : 'EUR' }),
      entry => ({ ...entry, movementId: newId() }),
      entry => ({ ...entry, postedAt: new Date(entry.postedAt.getTime() + 1) }),
      entry => ({ ...entry, hash: 'f'.repeat(64) }),
    )
    fc.assert(
      fc.property(ledger, fc.nat(), change, (entries, at, changed) => {
        const index = at % entries.length
        const proof = prove(entries.with(index, changed(entries[index]!)), balancesOf(entries))
        expect(proof.ok).toBe(false)
        expect(proof.brokenAt).toBe(BigInt(index + 1))
      }),
    )
  })

  it('finds a missing entry, at any place', () => {
    fc.assert(
      fc.property(ledger, fc.nat(), (entries, at) => {
        const index = at % entries.length
        const proof = prove(entries.toSpliced(index, 1), balancesOf(entries), headOf(entries))
        expect(proof.ok).toBe(false)
        expect(proof.brokenAt).not.toBeNull()
      }),
    )
  })

  it('finds a movement that does not balance although its chain is whole', () => {
    const entries = chained([[{ kind: 'CAPTURE', legs: [...bookings.captured(5n).legs, { account: 'merchant', amountMinor: 1n }] }, 'EUR']])
    const proof = prove(entries)
    expect(proof).toMatchObject({ ok: false, brokenAt: null, unbalancedMovements: [entries[0]!.movementId], totals: [{ amountMinor: 1n, currency: 'EUR' }] })
  })

  it('finds a balance that is not the sum of its entries', () => {
    const entries = chained([[bookings.captured(5n), 'EUR']])
    const accounts = balancesOf(entries).map(account => (account.code === 'merchant' ? { ...account, balanceMinor: '-4' } : account))
    expect(prove(entries, accounts)).toMatchObject({ ok: false, brokenAt: null, wrongBalances: ['merchant EUR'] })
    expect(prove(entries, accounts.slice(0, 1))).toMatchObject({ ok: false, wrongBalances: ['merchant EUR'] })
  })

  it('finds entries without a chain', () => {
    expect(prove(chained([[bookings.captured(5n), 'EUR']]), undefined, null)).toMatchObject({ ok: false, brokenAt: 3n })
  })
})
