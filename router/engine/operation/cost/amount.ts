/** Coerced variables, under the client's names. */
export type Given = Readonly<Record<string, unknown>>

/** A number that is known when an operation is parsed, or only once its variables are. */
export type Amount = number | ((given: Given) => number)

/** Maximum that costs are counted to: sums and products are capped there. */
export const mostCost = Number.MAX_SAFE_INTEGER

export const amountFor = (amount: Amount, given: Given): number => (typeof amount === 'number' ? amount : amount(given))

/** Adds amounts. Constants are added up at once, the rest when variables are known. */
export function sum(amounts: readonly Amount[]): Amount {
  let known = 0
  const open: ((given: Given) => number)[] = []
  for (const amount of amounts) {
    if (typeof amount === 'number') known = Math.min(known + amount, mostCost)
    else open.push(amount)
  }
  if (open.length === 0) return known
  return given => {
    let all = known
    for (const amount of open) all += amount(given)
    return Math.min(all, mostCost)
  }
}

export function product(count: Amount, each: Amount): Amount {
  if (count === 0 || each === 0) return 0
  if (typeof count === 'number' && typeof each === 'number') return Math.min(count * each, mostCost)
  return given => Math.min(amountFor(count, given) * amountFor(each, given), mostCost)
}

/** Returns the greatest of the amounts; 0 for none. */
export function greatest(amounts: readonly Amount[]): Amount {
  const known = Math.max(0, ...amounts.filter(amount => typeof amount === 'number'))
  const open = amounts.filter(amount => typeof amount !== 'number')
  return open.length === 0 ? known : given => open.reduce((most, amount) => Math.max(most, amount(given)), known)
}
