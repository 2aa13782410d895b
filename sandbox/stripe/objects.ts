import { randomInt } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { State } from '../state.ts'
import type { Form } from './form.ts'
import { invalid, missing } from './problems.ts'

/** Kinds of stored objects by the prefix of their ids, with their names in errors. */
export const kinds = {
  product: { prefix: 'prod', said: 'product' },
  price: { prefix: 'price', said: 'price' },
  customer: { prefix: 'cus', said: 'customer' },
  payment_method: { prefix: 'pm', said: 'PaymentMethod' },
  subscription: { prefix: 'sub', said: 'subscription' },
  'checkout.session': { prefix: 'cs_test', said: 'checkout.session' },
  payment_intent: { prefix: 'pi', said: 'payment_intent' },
  charge: { prefix: 'ch', said: 'charge' },
  refund: { prefix: 're', said: 'refund' },
  transfer: { prefix: 'tr', said: 'transfer' },
  transfer_reversal: { prefix: 'trr', said: 'transfer reversal' },
  balance_transaction: { prefix: 'txn', said: 'balance_transaction' },
  dispute: { prefix: 'du', said: 'dispute' },
  file: { prefix: 'file', said: 'file upload' },
  setup_intent: { prefix: 'seti', said: 'setup_intent' },
  invoice: { prefix: 'in', said: 'invoice' },
  'billing_portal.session': { prefix: 'bps', said: 'billing_portal.session' },
  event: { prefix: 'evt', said: 'event' },
} as const

export type Kind = keyof typeof kinds

// Fields are those of Stripe's own objects, of which there are too many for a type each.
// biome-ignore lint/suspicious/noExplicitAny: an object of Stripe's is looked into field by field
export type StripeObject = { readonly id: string; readonly object: Kind; readonly created: number; readonly [field: string]: any }

/** Which of a list, and how many. */
export interface Selection {
  /** @default all */
  readonly only?: (object: StripeObject) => boolean
  readonly path: string
}

/** What the twin remembers of its account. */
export interface Objects {
  /** Seconds since 1970, as Stripe counts. */
  now(): number
  id(prefix: string): string
  add(kind: Kind, fields: object): StripeObject
  change(object: StripeObject, fields: object): StripeObject
  /** @param param the parameter that names it; null: the path does. @throws resource_missing */
  find(kind: Kind, id: string, param: string | null): StripeObject
  all(kind: Kind): readonly StripeObject[]
  /** A page, newest first, by `limit`, `starting_after`, `ending_before` and `created`. */
  list(kind: Kind, form: Form, selection: Selection): object
}

interface Kept {
  readonly n: number
  readonly object: StripeObject
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const most = 20_000

/** @param changed called after each change, with the object as it was, or null for a new one */
export function openObjects(state: State, clock: Clock, changed: (before: StripeObject | null, after: StripeObject) => void): Objects {
  const kept = Object.fromEntries(Object.keys(kinds).map(kind => [kind, state.collection<Kept>(`stripe.${kind}`, most)])) as Record<
    Kind,
    ReturnType<typeof state.collection<Kept>>
  >
  let last = Math.max(0, ...Object.values(kept).flatMap(collection => [...collection.values()].map(({ n }) => n)))
  const now = (): number => Math.floor(clock.now().getTime() / 1000)
  const id = (prefix: string): string => `${prefix}_${Array.from({ length: 24 }, () => letters[randomInt(letters.length)]).join('')}`
  const put = (n: number, object: StripeObject): StripeObject => {
    kept[object.object].set(object.id, { n, object })
    return object
  }
  const newestFirst = (kind: Kind): StripeObject[] => [...kept[kind].values()].sort((one, other) => other.n - one.n).map(({ object }) => object)
  const find: Objects['find'] = (kind, wanted, param) => {
    const found = kept[kind].get(wanted)
    if (!found) throw missing(kinds[kind].said, wanted, param)
    return found.object
  }
  return {
    now,
    id,
    find,
    add(kind, fields) {
      last += 1
      const made = put(last, { id: id(kinds[kind].prefix), object: kind, created: now(), livemode: false, ...fields } as StripeObject)
      changed(null, made)
      return made
    },
    change(object, fields) {
      const known = kept[object.object].get(object.id)!
      const after = put(known.n, { ...known.object, ...fields })
      changed(known.object, after)
      return after
    },
    all: newestFirst,
    list(kind, form, { only = () => true, path }) {
      const limit = form.whole('limit', 1) ?? 10
      if (limit > 100) throw invalid('Limit must be between 1 and 100', 'limit')
      const [after, before] = [form.text('starting_after'), form.text('ending_before')]
      if (after && before) throw invalid('You cannot parameterize a single request with both `starting_after` and `ending_before`.', 'ending_before')
      const within = createdIn(form)
      const everything = newestFirst(kind)
      const place = (wanted: string, param: string): number => everything.indexOf(find(kind, wanted, param))
      const [from, to] = [after ? place(after, 'starting_after') + 1 : 0, before ? place(before, 'ending_before') : everything.length]
      const found = everything.slice(from, to).filter(object => within(object.created) && only(object))
      const data = before ? found.slice(-limit) : found.slice(0, limit)
      return { object: 'list', data, has_more: found.length > data.length, url: path }
    },
  }
}

/** `created` as one moment, or as bounds. */
function createdIn(form: Form): (created: number) => boolean {
  const bounds = form.part('created')
  if (!bounds) return () => true
  const [gt, gte, lt, lte] = [bounds.whole('gt'), bounds.whole('gte'), bounds.whole('lt'), bounds.whole('lte')]
  return created => created > (gt ?? -1) && created >= (gte ?? 0) && created < (lt ?? Number.POSITIVE_INFINITY) && created <= (lte ?? Number.POSITIVE_INFINITY)
}
