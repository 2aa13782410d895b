import { balanceOf } from './balance.ts'
import { attach, changeMethod, createCustomer, detach, shownMethod } from './cards.ts'
import { changeDispute, closeDispute, decided } from './disputes/disputes.ts'
import { createFile } from './disputes/files.ts'
import type { Form } from './form.ts'
import { createSession, expireSession, sessionNow } from './hosted/checkout.ts'
import { createPortal } from './hosted/portal.ts'
import { cancelIntent, captureIntent, confirmIntent, createIntent } from './intents.ts'
import { type Kind, kinds, type Objects, type StripeObject } from './objects.ts'
import { createPrice, createProduct } from './prices.ts'
import { invalid, StripeProblem } from './problems.ts'
import { createRefund, createTransfer, refundNow, reverseTransfer, shownTransfer } from './refunds.ts'
import { changeSubscription, createSubscription, previewInvoice } from './subscriptions.ts'

/** Handles the requests to one address. */
type Does = (objects: Objects, form: Form, id: string, origin: string) => object

/** What creates or changes something, by the address below `/v1`; `:id` is any id. */
const writes: Readonly<Record<string, Does>> = {
  '/products': createProduct,
  '/prices': createPrice,
  '/customers': createCustomer,
  '/payment_methods/:id': (objects, form, id) => changeMethod(objects, id, form),
  '/payment_methods/:id/attach': (objects, form, id) => attach(objects, id, form),
  '/payment_methods/:id/detach': (objects, form, id) => detach(objects, id, form),
  '/subscriptions': createSubscription,
  '/subscriptions/:id': (objects, form, id) => changeSubscription(objects, id, form),
  '/invoices/create_preview': previewInvoice,
  '/checkout/sessions': (objects, form, _, origin) => sessionNow(objects, createSession(objects, form, origin)),
  '/checkout/sessions/:id/expire': (objects, form, id) => expireSession(objects, id, form),
  '/billing_portal/sessions': (objects, form, _, origin) => createPortal(objects, form, origin),
  '/payment_intents': createIntent,
  '/payment_intents/:id/confirm': (objects, form, id) => confirmIntent(objects, id, form),
  '/payment_intents/:id/capture': (objects, form, id) => captureIntent(objects, id, form),
  '/payment_intents/:id/cancel': (objects, form, id) => cancelIntent(objects, id, form),
  '/files': createFile,
  '/refunds': createRefund,
  '/disputes/:id': (objects, form, id) => changeDispute(objects, id, form),
  '/disputes/:id/close': (objects, form, id) => closeDispute(objects, id, form),
  '/transfers': createTransfer,
  '/transfers/:id/reversals': (objects, form, id) => reverseTransfer(objects, id, form),
}

/** The objects that can be read singly and in lists, and how they are shown. */
const reads: Readonly<Record<string, readonly [Kind, ((objects: Objects, object: StripeObject) => object)?]>> = {
  '/products': ['product'],
  '/prices': ['price'],
  '/customers': ['customer'],
  '/payment_methods': ['payment_method', (_, method) => shownMethod(method)],
  '/subscriptions': ['subscription'],
  '/checkout/sessions': ['checkout.session', sessionNow],
  '/payment_intents': ['payment_intent'],
  '/charges': ['charge'],
  '/refunds': ['refund', refundNow],
  '/transfers': ['transfer', shownTransfer],
  '/balance_transactions': ['balance_transaction'],
  '/disputes': ['dispute', decided],
  '/files': ['file'],
  '/setup_intents': ['setup_intent'],
  '/invoices': ['invoice'],
  '/events': ['event'],
}

/** By which fields each list can be narrowed. */
const filters = ['customer', 'payment_intent', 'charge', 'type', 'status', 'transfer_group', 'destination'] as const

function listed(objects: Objects, path: string, form: Form): object {
  const [kind, shown = (_: Objects, object: StripeObject) => object] = reads[path]!
  const wanted = filters.map(name => [name, form.text(name)] as const).filter(([, value]) => value)
  const expand = form.texts('expand')
  const page = objects.list(kind, form, { path: `/v1${path}`, only: object => wanted.every(([name, value]) => object[name] === value) }) as {
    data: StripeObject[]
  }
  form.end()
  const inner = expand.map(name => {
    if (!name.startsWith('data.')) throw invalid(`This property cannot be expanded (${name}).`, 'expand')
    return name.slice('data.'.length)
  })
  return { ...page, data: page.data.map(object => expanded(objects, shown(objects, object), inner)) }
}

/** An object with others in the place of their ids, by paths such as `setup_intent.payment_method`. */
function expanded(objects: Objects, object: object, paths: readonly string[]): object {
  let answer = object as Readonly<Record<string, unknown>>
  for (const path of paths) {
    const [name, ...rest] = path.split('.') as [string, ...string[]]
    const value = answer[name]
    const inner = typeof value === 'string' ? shownById(objects, value) : value
    if (inner === null && value === null) continue
    if (typeof inner !== 'object' || inner === null) throw invalid(`This property cannot be expanded (${path}).`, 'expand')
    answer = { ...answer, [name]: rest.length > 0 ? expanded(objects, inner, [rest.join('.')]) : inner }
  }
  return answer
}

function shownById(objects: Objects, id: string): object | null {
  const entry = Object.values(reads).find(([kind]) => id.startsWith(`${kinds[kind].prefix}_`))
  if (!entry) return id.startsWith(`${kinds.transfer_reversal.prefix}_`) ? objects.find('transfer_reversal', id, null) : null
  const [kind, shown = (_: Objects, object: StripeObject) => object] = entry
  return shown(objects, objects.find(kind, id, null))
}

/** Answers one call below `/v1`. @throws StripeProblem */
export function answerAt(objects: Objects, method: string, path: string, form: Form, origin: string): object {
  const known = method === 'POST' ? writing(path) : method === 'GET' ? reading(path) : null
  if (!known)
    throw new StripeProblem(
      404,
      { type: 'invalid_request_error', message: `Unrecognized request URL (${method}: /v1${path}). Please see https://stripe.com/docs.` },
      true,
    )
  return known(objects, form, origin)
}

type Known = (objects: Objects, form: Form, origin: string) => object

function writing(path: string): Known | null {
  for (const [pattern, does] of Object.entries(writes)) {
    const id = matched(pattern, path)
    if (id !== null) return (objects, form, origin) => does(objects, form, id, origin)
  }
  return null
}

function reading(path: string): Known | null {
  if (path === '/balance') return (objects, form) => balanceOf(objects, form)
  if (Object.hasOwn(reads, path)) return (objects, form) => listed(objects, path, form)
  const reversals = matched('/transfers/:id/reversals', path)
  if (reversals !== null)
    return (objects, form) => objects.list('transfer_reversal', form, { path: `/v1${path}`, only: ({ transfer }) => transfer === reversals })
  const [, list, id] = /^(\/.+)\/([^/]+)$/.exec(path) ?? []
  const read = list !== undefined && Object.hasOwn(reads, list) ? reads[list]! : null
  if (!read) return null
  const [kind, shown = (_: Objects, object: StripeObject) => object] = read
  return (objects, form) => {
    const expand = form.texts('expand')
    form.end()
    return expanded(objects, shown(objects, objects.find(kind, decodeURIComponent(id!), null)), expand)
  }
}

/** The id in a path that a pattern fits; empty where the pattern has none, null when it does not fit. */
function matched(pattern: string, path: string): string | null {
  const [before, after] = pattern.split(':id')
  if (after === undefined) return pattern === path ? '' : null
  if (!path.startsWith(before!) || !path.endsWith(after)) return null
  const id = path.slice(before!.length, path.length - after.length)
  return id && !id.includes('/') ? decodeURIComponent(id) : null
}
