import { Op, type WhereOptions } from 'sequelize'

/**
 * The condition that continues a list after a position, for lists ordered by a moment and then by id.
 * The first comparison is implied by the rest; written out, it lets the index on both columns start at the right place.
 * @param position `[moment, id]` of a checked cursor; null begins at the start
 */
export function continueAfter(position: readonly string[] | null, direction: 'oldest first' | 'newest first', moment = 'createdAt'): WhereOptions {
  const [at, id] = position ?? []
  if (at === undefined || id === undefined) return {}
  const [past, notBefore] = direction === 'oldest first' ? [Op.gt, Op.gte] : [Op.lt, Op.lte]
  const date = new Date(at)
  return { [moment]: { [notBefore]: date }, [Op.or]: [{ [moment]: { [past]: date } }, { id: { [past]: id } }] }
}
