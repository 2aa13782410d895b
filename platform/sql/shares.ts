import type { Sequelize } from 'sequelize'
import { createPlaces, type Places } from '../caller/places.ts'

/** Slots of a pool's connections that organizations take in turn. */
export interface PoolShares {
  readonly reads: Places
  /**
   * Slots for transactions, separate from reads: a transaction that holds its connection may need a read outside of it.
   */
  readonly transactions: Places
}

const sharesByPool = new WeakMap<Sequelize, PoolShares>()

/**
 * Returns the slots of a pool: one organization gets at most half of the connections for its reads, and again for its
 * transactions.
 */
export function sharesOf(sequelize: Sequelize): PoolShares {
  const known = sharesByPool.get(sequelize)
  if (known) return known
  const all = (sequelize as unknown as { connectionManager: { readonly pool: { readonly maxSize: number } } }).connectionManager.pool.maxSize
  const limits = { all, ofParty: Math.ceil(all / 2) }
  const shares = { reads: createPlaces(limits), transactions: createPlaces(limits) }
  sharesByPool.set(sequelize, shares)
  return shares
}
