import { createHash } from 'node:crypto'
import { spoilt } from '../faults.ts'
import { type Call, type Control, type Deps, json, type Network, type Reply, textOf, type Vendor } from '../network.ts'
import { answerAt } from './addresses.ts'
import { readParts } from './disputes/files.ts'
import { emitting } from './events/emit.ts'
import { openEvents } from './events/events.ts'
import { readForm } from './form.ts'
import { checkoutPage, portalPage } from './hosted/pages.ts'
import { type Objects, openObjects, type StripeObject } from './objects.ts'
import { type Complaint, StripeProblem } from './problems.ts'
import { makeSubscription } from './subscriptions.ts'

/** The version of the interface that is played: that of the package that is installed. */
export const apiVersion = '2026-10-28.endive'

/** What it was asked to do and did: one entry a call, and none for a call that was answered again under its key. */
export interface ReceivedObject {
  readonly receivedAt: string
  readonly id: string
  readonly object: string
  readonly path: string
  /** What people would know it by: a name, an address, a description. */
  readonly text: string
  readonly idempotencyKey: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** What the call moved, in minor units: what it captured, and, negative, what it gave back or transferred. */
  readonly moved: number
}

/** What a call moved: an intent by its capture, a refund and a transfer by its amount. */
function movedBy({ object, amount, amount_received }: Pick<StripeObject, 'object'> & Partial<StripeObject>): number {
  if (object === 'payment_intent') return amount_received
  return object === 'refund' || object === 'transfer' ? -amount : 0
}

/** What was answered under a key. */
interface Answered {
  readonly at: number
  readonly hash: string
  readonly path: string
  readonly status: number
  readonly body: object
}

const keptMs = 24 * 3600 * 1000

/** The played Stripe: one account in test mode, with two connected accounts. */
export const stripe: Vendor = { title: 'Stripe', play }

/**
 * How much later the events of a call are sent that is never answered, in ms: longer than callers wait, so that for a while nobody can know what
 * became of it.
 */
const unansweredMs = 15_000

/** How long a body may be, in bytes: a file of 5 MiB with what is said of it. */
const maxBody = 5 * 1024 * 1024 + 16_384

/** How often it looks for what happens by itself, in ms. */
const tickMs = 200

function play(name: string, deps: Deps): Network {
  const { state, faults, clock, origin } = deps
  const events = openEvents(name, apiVersion, deps, () => objects)
  const objects: Objects = openObjects(state, clock, events.changed)
  const answered = state.collection<Answered>('stripe.keys', 20_000)
  const received = state.collection<ReceivedObject>('stripe.received', 5_000)
  /** Keys whose first call is under way: a call that is held up is done, and has not answered. */
  const busy = new Set<string>()
  let calls = received.size

  const refused = (status: number, error: Complaint, key: string | null): Reply => json(status, { error }, 'refused', headersOf(key))

  const headersOf = (key: string | null, isReplay = false): Record<string, string> => ({
    'request-id': objects.id('req'),
    'stripe-version': apiVersion,
    ...(key !== null && { 'idempotency-key': key }),
    ...(isReplay && { 'idempotent-replayed': 'true' }),
  })

  const run = (call: Call, path: string): { readonly status: number; readonly body: object; readonly isKept: boolean } => {
    try {
      const form = readForm(call.method === 'GET' ? call.query.toString() : textOf(call))
      const body = answerAt(objects, call.method, path, form, `${origin()}/${name}`)
      return { status: 200, body, isKept: true }
    } catch (error) {
      if (!(error instanceof StripeProblem)) throw error
      return { status: error.status, body: { error: error.complaint }, isKept: !error.isBefore }
    }
  }

  /** What a call under a key is told that came before; null: it is the first. */
  const before = (key: string, path: string, hash: string): Reply | null => {
    if (key.length > 255) return refused(400, { type: 'invalid_request_error', message: 'Idempotency keys can have up to 255 characters.' }, null)
    if (busy.has(key)) {
      const message = `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`
      return refused(409, { type: 'idempotency_error', code: 'idempotency_key_in_use', message }, key)
    }
    const known = answered.get(key)
    if (!known || clock.now().getTime() - known.at > keptMs) return null
    if (known.hash === hash) return json(known.status, known.body, known.status < 400 ? 'read' : 'refused', headersOf(key, true))
    const what =
      known.path === path ? 'with the same parameters they were first used with' : `for the same endpoint they were first used for ('/v1${known.path}')`
    const message = `Keys for idempotent requests can only be used ${what}. Try using a key other than '${key}' if you meant to execute a different request.`
    return refused(400, { type: 'idempotency_error', message }, key)
  }

  const write = (call: Call, path: string, key: string | null): Reply => {
    const hash = createHash('sha256').update(`${path}\n`).update(call.body).digest('base64url')
    const earlier = key === null ? null : before(key, path, hash)
    if (earlier) return earlier
    const at = clock.now().getTime()
    const { status, body, isKept } = events.under(key, () => run(call, path))
    if (key !== null && isKept) answered.set(key, { at, hash, path, status, body })
    if (status >= 400) return { ...json(status, body, 'refused', headersOf(key)), reason: (body as { error: Complaint }).error.code ?? 'invalid' }
    if (path !== '/invoices/create_preview') note(body as StripeObject, `/v1${path}`, key)
    return json(status, body, 'accepted', headersOf(key))
  }

  const note = (object: StripeObject, path: string, idempotencyKey: string | null): void => {
    calls += 1
    const { id, object: kind, name: called, email, description, metadata = {} } = object
    const text = email ?? called ?? description ?? ''
    const moved = movedBy(object)
    received.set(`${calls}:${id}`, { receivedAt: clock.now().toISOString(), id, object: kind, path, text, idempotencyKey, metadata, moved })
  }

  /** Notes what a payment on a session's page took. */
  const paid = ({ id, payment_intent }: StripeObject): void => {
    if (payment_intent !== null) note(objects.find('payment_intent', payment_intent, null), `/checkout/${id}`, null)
  }

  /** Sends the events of a call when its answer is on its way: the server commits before that. */
  const answer = async (call: Call): Promise<Reply> => {
    const reply = await respond(call)
    setImmediate(tick)
    return reply
  }

  const respond = async (asked: Call): Promise<Reply> => {
    const call = await readParts(asked)
    const [, shown, id] = /^\/(checkout|portal)\/((?:cs_test|bps)_\w+)$/.exec(call.path) ?? []
    if (id !== undefined && call.method === 'GET') return shown === 'checkout' ? checkoutPage(objects, call, id, paid) : portalPage(objects, call, id)
    if (!call.path.startsWith('/v1/'))
      return refused(404, { type: 'invalid_request_error', message: `Unrecognized request URL (${call.method}: ${call.path}).` }, null)
    const path = call.path.slice('/v1'.length)
    const mistake = unfit(call)
    if (mistake) return refused(mistake.status, mistake.complaint, null)
    if (call.method !== 'POST') {
      const { status, body } = run(call, path)
      return json(status, body, status < 400 ? 'read' : 'refused', headersOf(null))
    }
    const key = [call.headers['idempotency-key'] ?? null].flat()[0] ?? null
    const held = faults.armed().find(({ network, fault }) => network === name && fault === 'slow')
    const isUnanswered = faults.armed().some(({ network, fault }) => network === name && fault === 'timeout-after-accept')
    const reply = await spoilt(faults, name, {
      refuse: ({ status }) =>
        refused(
          status,
          {
            type: status === 429 ? 'invalid_request_error' : 'api_error',
            message: 'An unknown error occurred.',
            ...(status === 429 && { code: 'rate_limit' }),
          },
          key,
        ),
      take: () => events.later(isUnanswered ? unansweredMs : 0, () => write(call, path, key)),
    })
    if (held && reply.fault === 'slow' && key !== null) {
      busy.add(key)
      setTimeout(() => busy.delete(key), held.delayMs).unref()
    }
    return reply
  }

  /** Makes what no call of ours makes: a subscription with a customer, a monthly price, and one item of so many; or changes how many, without an event. */
  const makeObject: Control = ({ object, quantity = 1, id, ...others }) => {
    const unknown = Object.keys(others)[0]
    if (unknown !== undefined) return `${unknown} is not known here: an object has object, id and quantity.`
    if (object !== 'subscription') return `object is ${JSON.stringify(object)}: expected "subscription".`
    if (typeof quantity !== 'number' || !Number.isInteger(quantity) || quantity < 1 || quantity > 1_000_000)
      return `quantity is ${JSON.stringify(quantity)}: expected a whole number from 1 to 1000000.`
    if (id !== undefined) {
      const known = objects.all('subscription').find(each => each.id === id)
      return known ? events.silently(() => resize(objects, known, quantity)) : `id is ${JSON.stringify(id)}: there is no such subscription.`
    }
    const make = (path: string, fields: Record<string, string>) =>
      answerAt(objects, 'POST', path, readForm(new URLSearchParams(fields).toString()), origin()) as { readonly id: string }
    const customer = make('/customers', { email: 'subscriber@example.test' })
    const price = make('/prices', { currency: 'eur', unit_amount: '1500', 'recurring[interval]': 'month', 'product_data[name]': 'Seats' })
    return shownMade(makeSubscription(objects, customer.id, [{ price: objects.find('price', price.id, null), quantity }], {}))
  }

  const tick = (): void => {
    if (isStopped) return
    events.tick()
  }
  let isStopped = false
  const timer = setInterval(tick, tickMs).unref()
  return {
    name,
    takes: { mostBytes: maxBody },
    answer,
    received: () => [...received.values()],
    controls: { objects: makeObject, emit: emitting(objects, events, () => state.commit()) },
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}

const shownMade = ({ id, customer, items }: StripeObject): object => ({
  ...{ id, customerId: customer, itemId: items.data[0].id, priceId: items.data[0].price.id },
})

/** Changes how many of its first item a subscription has. */
function resize(objects: Objects, subscription: StripeObject, quantity: number): object {
  const [first, ...rest] = subscription.items.data
  return shownMade(objects.change(subscription, { items: { ...subscription.items, data: [{ ...first, quantity }, ...rest] } }))
}

/** What is said of a call that Stripe does not look into: who calls is unknown, or the version is. */
function unfit({ headers }: Call): StripeProblem | null {
  const key = keyOf(headers.authorization)
  const said = (status: number, message: string) => new StripeProblem(status, { type: 'invalid_request_error', message })
  if (!key) return said(401, 'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.')
  if (!/^(?:sk|rk)[-_](?:test|sandbox)[-_]/.test(key)) return said(401, `Invalid API Key provided: ${key.slice(0, 3)}****`)
  const version = headers['stripe-version']
  return version === undefined || version === apiVersion ? null : said(400, `Invalid Stripe API version: ${version}`)
}

/** As bearer, or as the name of a person without a password. */
function keyOf(authorization: string | undefined): string | null {
  const [, scheme, value] = /^(Bearer|Basic) (.+)$/i.exec(authorization ?? '') ?? []
  if (value === undefined) return null
  return scheme!.toLowerCase() === 'bearer' ? value : Buffer.from(value, 'base64').toString('utf8').split(':')[0]!
}
