import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { isId } from '../../platform/ids.ts'
import type { Fact, FactCarrier, Receipt } from '../../platform/jobs/facts/fact.ts'
import { type Exchange, type Origin, UpstreamFailure } from '../engine/transport/exchange.ts'
import { openOrigins } from '../engine/transport/replicas.ts'

/** Path at which a distributed subgraph receives facts of other subgraphs. */
export const factsPath = '/internal/facts'

/** Maximum bytes of a delivered fact: its body and its identifiers. */
export const mostFactBytes = 64 * 1024

/** Milliseconds for handling one fact, less than its sender waits. */
const timeoutMs = 4_500
/** Tolerated difference of two processes' clocks, and lifetime of a signature, in seconds. */
const toleranceSeconds = 300

const limits = { connections: 8, mostWaiting: 64, mostBytes: 64 * 1024 } as const

/**
 * Derives the key that signs facts to one subgraph. Every subgraph's process can derive it from their shared secret;
 * routers, which do not deliver facts, cannot.
 */
const keyTo = (slug: string, secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', `facts to ${slug}`, 32))

/** Signs as the Standard Webhooks require: over id, time and body. */
const signatureOf = (key: Buffer, id: string, seconds: string, body: Buffer | string): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`

export interface RemoteCarrierOptions {
  /** Addresses of the replicas of each subgraph that receives facts, by slug. */
  readonly urls: ReadonlyMap<string, readonly string[]>
  /** Secret that the subgraphs' processes share. */
  readonly secret: string
  readonly clock: Clock
}

/** Delivers facts to distributed subgraphs, each to its own address, signed for it. */
export function createRemoteCarrier({ urls, secret, clock }: RemoteCarrierOptions): FactCarrier & { close(): Promise<void> } {
  const ways = new Map(
    [...urls].map(([slug, replicas]) => [
      slug,
      {
        origin: openOrigins(
          replicas.map(url => new URL(url).origin),
          limits,
        ),
        key: keyTo(slug, secret),
      },
    ]),
  )
  return {
    receivers: [...urls.keys()],
    async carry(receiver, fact) {
      const { origin, key } = ways.get(receiver)!
      const body = JSON.stringify(fact)
      const seconds = String(Math.floor(clock.now().getTime() / 1000))
      const headers = ['content-type', 'application/json', 'webhook-id', fact.id, 'webhook-timestamp', seconds]
      const { status, text } = await post(origin, {
        path: factsPath,
        headers: [...headers, 'webhook-signature', signatureOf(key, fact.id, seconds, body)],
        body,
      })
      if (status !== 200) throw new Error(`${receiver} answered ${status} to a fact`)
      return receiptIn(text)
    },
    close: async () => void (await Promise.all([...ways.values()].map(({ origin }) => origin.close()))),
  }
}

/**
 * Posts a fact within the time limit. A broken keep-alive connection counts as no answer: the fact is delivered again,
 * which is harmless.
 */
async function post(origin: Origin, question: Parameters<Origin['ask']>[0]) {
  let ended = false
  let exchange: Exchange = origin.ask(question)
  const late = setTimeout(() => {
    ended = true
    exchange.cancel(new UpstreamFailure('late', `No answer within ${timeoutMs} ms`))
  }, timeoutMs)
  try {
    return await exchange.answer.catch(failure => {
      if (ended || !(failure instanceof UpstreamFailure) || failure.stage !== 'cut') throw failure
      exchange = origin.ask(question)
      return exchange.answer
    })
  } finally {
    clearTimeout(late)
  }
}

function receiptIn(text: string): Receipt {
  const { refused } = JSON.parse(text) as { refused?: unknown }
  if (refused === null) return 'received'
  if (typeof refused === 'string') return { refused }
  throw new Error('the answer to a fact is no receipt')
}

export interface FactDoorOptions {
  /** Slug of the receiving subgraph. */
  readonly slug: string
  readonly receive: (fact: Fact) => Promise<Receipt>
  readonly secret: string
  readonly clock: Clock
}

/**
 * Accepts facts at a subgraph's own address: only those signed with the shared secret for this subgraph, unchanged,
 * within five minutes.
 */
export type FactDoor = (headers: IncomingHttpHeaders, body: Buffer) => Promise<{ readonly refused: string | null }>

export function createFactDoor({ slug, receive, secret, clock }: FactDoorOptions): FactDoor {
  const key = keyTo(slug, secret)
  return async (headers, body) => {
    const [id, seconds, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name => String(headers[name] ?? ''))
    const away = Math.abs(clock.now().getTime() / 1000 - Number(seconds))
    if (!(away <= toleranceSeconds) || !isSigned(signature!, signatureOf(key, id!, seconds!, body)))
      throw new DomainError('UNAUTHENTICATED', 'Only subgraphs of this platform bring facts here, signed for this one.')
    const fact = factIn(body)
    if (!fact || fact.id !== id) throw new DomainError('BAD_USER_INPUT', 'This is no fact.')
    const receipt = await receive(fact)
    return { refused: receipt === 'received' ? null : receipt.refused }
  }
}

/** Whether one of the signatures is right; several are sent while the secret changes. */
const isSigned = (given: string, right: string): boolean => given.split(' ').some(one => isSame(Buffer.from(one), Buffer.from(right)))

/** Compares bytes in constant time. */
const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other)

function factIn(body: Buffer): Fact | null {
  try {
    const { id, from, kind, subject, at, body: content } = JSON.parse(body.toString('utf8')) as Record<string, unknown>
    const moment = new Date(String(at))
    const known = isId(id) && typeof from === 'string' && typeof kind === 'string' && typeof subject === 'string' && !Number.isNaN(moment.getTime())
    return known ? { id, from, kind, subject, at: moment, body: content } : null
  } catch {
    return null
  }
}
