import { AsyncLocalStorage } from 'node:async_hooks'
import { outsideTraces, traceHeaders, traceparentNow } from './trace.ts'

/** Where a request came from, for the audit log. */
export interface Origin {
  /** Address of the caller. */
  readonly address: string
  /** User-Agent of the calling program. */
  readonly agent?: string | undefined
}

/** Key of a cause's origin: a symbol, so that copies keep it and log lines omit it. */
export const origin = Symbol('origin')

/** Key of the organization that the work is done for, for limits by organization. */
export const organization = Symbol('organization')

/** A client program, as it names itself. */
export interface ClientProgram {
  /** `unknown` where it says none, `other` for what is no name: 1 to 100 printable ASCII characters. */
  readonly name: string
  /** Likewise. */
  readonly version: string
}

/** Key of a cause's client program: a symbol, because log lines have it as `client`. */
export const program = Symbol('program')

/**
 * Context of a piece of work. Every log line of the work contains it, and it is passed to the calls and jobs that the
 * work causes, through every process. It never holds a credential.
 */
export interface Cause {
  /** Id of the request that the work is part of. */
  readonly requestId?: string
  /** For a later job: id of the request that caused it. */
  readonly cause?: string
  /** For the effects of a fact: the fact's id. */
  readonly fact?: string
  /** For a job: its queue and id. */
  readonly queue?: string
  readonly job?: string
  /** Name of the calling program, as sent by it. */
  readonly client?: string
  /** The caller as audit entries name it (`user:…`), once known. */
  caller?: string
  /** Name of the client's operation, once known. */
  operation?: string
  /** Number of errors by code, if the operation ended with any. */
  errors?: Readonly<Record<string, number>>
  readonly [origin]?: Origin
  readonly [program]?: ClientProgram
  [organization]?: string
}

const present = new AsyncLocalStorage<Cause | undefined>()

/** Returns the context of the present work; undefined for work that the process does by itself. */
export const causeNow = (): Cause | undefined => present.getStore()

/**
 * Runs work, and all that it starts, in this context; null: without any, for timers and connections that many share.
 */
export const doFor = <Result>(cause: Cause | null, work: () => Result): Result =>
  cause ? present.run(cause, work) : outsideTraces(() => present.run(undefined, work))

/**
 * Records the caller, once known. @param caller as audit entries name it @param inside the caller's organization, if
 * any
 */
export function callIs(caller: string, inside: string | null = null): void {
  const cause = present.getStore()
  if (!cause) return
  cause.caller = caller
  if (inside !== null) cause[organization] = inside
}

/** The organization that present work is done for; undefined where none is known. */
export const organizationNow = (): string | undefined => present.getStore()?.[organization]

/** Runs work for an organization after its request has ended. */
export const doForOrganization = <Result>(id: string, work: () => Result): Result => present.run({ ...present.getStore(), [organization]: id }, work)

/** Returns the id common to everything that is done for the same request. */
export const causeId = (): string | undefined => {
  const cause = present.getStore()
  return cause?.requestId ?? cause?.cause ?? cause?.fact
}

/** The request that caused the current work; undefined for work of the process itself. */
export const originNow = (): Origin | undefined => present.getStore()?.[origin]

/** Key of the cause in a job's data; handlers do not see it. */
const causeKey = '_cause'

/** Adds the present cause to a job's data. */
export function withCause(data: Readonly<Record<string, string>>): Record<string, string> {
  const now = present.getStore()
  const cause = causeId()
  return now && cause
    ? { ...data, [causeKey]: JSON.stringify({ cause, caller: now.caller, client: now.client, from: now[origin], trace: traceparentNow() }) }
    : { ...data }
}

/** Separates a job's cause from its data. */
export function splitCause(data: Readonly<Record<string, string>>): {
  readonly cause: Cause
  /** The trace that the job belongs to, in W3C format. */
  readonly trace: string | undefined
  readonly data: Readonly<Record<string, string>>
} {
  const { [causeKey]: written, ...rest } = data
  const { trace, from, ...cause } = written === undefined ? {} : (JSON.parse(written) as Cause & { readonly trace?: string; readonly from?: Origin })
  return { cause: { ...cause, ...(from && { [origin]: from }) }, trace, data: rest }
}

/** Header by which processes of the platform name the calling program. */
export const clientHeader = 'graphql-client-name'

/**
 * Header by which processes of the platform pass on the client's address. It is trusted beside a seal, and never from
 * outside.
 */
export const addressHeader = 'x-client-address'
export const agentHeader = 'x-client-agent'

/** Header by which a subgraph learns the host of a forwarded request. It is never trusted from outside. */
export const hostHeader = 'x-client-host'

/**
 * Returns the headers that pass the present context to another process of the platform: names and values, alternating.
 */
export const causeHeaders = (): readonly string[] => {
  const { client, [origin]: from } = present.getStore() ?? {}
  return [
    ...(client === undefined ? [] : [clientHeader, client]),
    ...(from === undefined ? [] : [addressHeader, from.address]),
    ...(from?.agent === undefined ? [] : [agentHeader, from.agent]),
    ...traceHeaders(),
  ]
}

/** Returns the origin of a request. @param agent its User-Agent, as received */
export const readOrigin = (address: string, agent: unknown): Origin => ({
  address,
  ...(typeof agent === 'string' && agent !== '' && { agent: printable(agent, longestAgent) }),
})

/** Maximum characters of a stored User-Agent. */
const longestAgent = 300

/** Maximum characters of a stored program name. */
const longestClient = 100

/** Names under which clients send their own name and version, the first ones counting most; the last pair is for sockets. */
const clientNames = [
  ['apollographql-client-name', 'apollographql-client-version'],
  [clientHeader, 'graphql-client-version'],
  ['x-graphql-client-name', 'x-graphql-client-version'],
  ['clientName', 'clientVersion'],
] as const

const wordOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/**
 * Returns the name of the calling program: by the headers of GraphQL clients, else by its User-Agent; undefined when
 * neither is sent. @param header reads one
 */
export function readClient(header: (name: string) => unknown): string | undefined {
  for (const [named, versioned] of clientNames) {
    const name = wordOf(header(named))
    if (name === undefined) continue
    const version = wordOf(header(versioned))
    return printable(version === undefined ? name : `${name}@${version}`, longestClient)
  }
  const agent = wordOf(header('user-agent'))
  return agent === undefined ? undefined : printable(agent, longestClient)
}

const unknown: ClientProgram = { name: 'unknown', version: 'unknown' }

/** Returns the client program that a request names; its User-Agent names none. @param header reads one */
export function readProgram(header: (name: string) => unknown): ClientProgram {
  for (const [named, versioned] of clientNames) {
    const name = wordOf(header(named))
    if (name !== undefined) return { name: shown(name), version: shown(wordOf(header(versioned)) ?? unknown.version) }
  }
  return unknown
}

/** Returns the client program of the present work. */
export const programNow = (): ClientProgram => present.getStore()?.[program] ?? unknown

const shown = (word: string): string => (word.length <= longestClient && /^[\x20-\x7e]+$/.test(word) ? word : 'other')

/** Removes characters that a header must not contain; callers choose the text. */
const printable = (text: string, most: number): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, most)
