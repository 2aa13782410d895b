import type { ChainHead, LedgerEntryRow, LedgerSnapshot } from '../../stores/ledger.ts'
import { genesisHash, type Hashed, hashOf } from './chain.ts'

/** An amount of one currency, in minor units. */
interface Total {
  readonly amountMinor: bigint
  readonly currency: string
}

/** What reading a merchant's whole ledger again has shown. */
export interface Verification {
  /** An unbroken chain, balanced movements, balances equal to the sums of their entries, and totals of zero. */
  readonly ok: boolean
  readonly entries: bigint
  /** Hash of the last entry that was read. */
  readonly headHash: string
  /** The sequence at which the chain is broken first; null when it is whole. */
  readonly brokenAt: bigint | null
  /** The first hundred movements whose entries do not sum to zero. */
  readonly unbalancedMovements: readonly string[]
  /** Accounts, with their currency, whose balance is not the sum of their entries: `merchant EUR`. */
  readonly wrongBalances: readonly string[]
  /** The sum of all entries in each currency. */
  readonly totals: readonly Total[]
}

/** How many unbalanced movements are named. */
export const maxNamed = 100

/** What a proof looks at of an entry. */
type Proved = Hashed & Pick<LedgerEntryRow, 'hash'>

/** Checks entries as they are handed over, in order of sequence; holds sums alone, however many there are. */
export interface Proof {
  take(entry: Proved): void
  /** @param head what the chain says of its last entry; null where no chain is kept */
  conclude(head: ChainHead | null, accounts: LedgerSnapshot['accounts']): Verification
}

/** Begins a proof of one merchant's chain. */
export function openProof(): Proof {
  const sums = new Map<string, bigint>()
  const totals = new Map<string, bigint>()
  const unbalanced = new Set<string>()
  let entries = 0n
  let previous = genesisHash
  let brokenAt: bigint | null = null
  let movement: { id: string; sums: Map<string, bigint> } | null = null

  const add = (to: Map<string, bigint>, key: string, amount: bigint) => to.set(key, (to.get(key) ?? 0n) + amount)
  // Entries of a movement follow each other: a movement ends where the next begins.
  const endMovement = () => {
    if (movement && [...movement.sums.values()].some(sum => sum !== 0n) && unbalanced.size < maxNamed) unbalanced.add(movement.id)
    movement = null
  }

  return {
    take(entry) {
      const { sequence, previousHash, hash, movementId, account, amountMinor, currency } = entry
      entries += 1n
      if (brokenAt === null && (sequence !== entries || previousHash !== previous || hashOf(entry) !== hash)) brokenAt = sequence
      previous = hash
      if (movement?.id !== movementId) {
        endMovement()
        movement = { id: movementId, sums: new Map() }
      }
      add(movement!.sums, currency, amountMinor)
      add(totals, currency, amountMinor)
      add(sums, `${account} ${currency}`, amountMinor)
    },
    conclude(head, accounts) {
      endMovement()
      if (brokenAt === null && (head?.sequence ?? 0n) !== entries) brokenAt = entries + 1n
      if (brokenAt === null && head !== null && head.hash !== previous) brokenAt = entries
      const kept = new Map(accounts.map(({ code, currency, balanceMinor }) => [`${code} ${currency}`, BigInt(balanceMinor)]))
      const names = [...new Set([...sums.keys(), ...kept.keys()])].sort()
      const wrongBalances = names.filter(name => (sums.get(name) ?? 0n) !== (kept.get(name) ?? 0n))
      const sorted = [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([currency, amountMinor]) => ({ amountMinor, currency }))
      return {
        ok: brokenAt === null && unbalanced.size === 0 && wrongBalances.length === 0 && sorted.every(({ amountMinor }) => amountMinor === 0n),
        entries,
        headHash: previous,
        brokenAt,
        unbalancedMovements: [...unbalanced],
        wrongBalances,
        totals: sorted,
      }
    },
  }
}
