import { AsyncLocalStorage } from 'node:async_hooks'
import { outsideTraces, traceHeaders, traceparentNow } from './trace.ts'

/** Where a request came from, for the record of who did what. */
export interface Origin {
  /** Address of the caller. */
  readonly address: string
  /** The program that it uses, as its User-Agent says. */
  readonly agent?: string | undefined
}

/** Under this key a cause knows where it came from: it goes along with copies, and being a symbol it stands in no line of the log. */
export const origin = Symbol('origin')

/** Under this key a cause knows the organization that the work is done for, so that what is bounded by organization finds it. */
export const organization = Symbol('organization')

/**
 * What work is done for. It stands in every line that the work logs, and goes along with what the work asks of others and leaves for
 * later, through every process. Never a credential.
 */
export interface Cause {
  /** Id of the request that the work is part of. */
  readonly requestId?: string
  /** Of what is done later: id of the request that made it necessary. */
  readonly cause?: string
  /** Of what a fact has others do: its id. */
  readonly fact?: string
  /** Queue and id of the job that the work is. */
  readonly queue?: string
  readonly job?: string
  /** The program that asks, as it calls itself. */
  readonly client?: string
  /** Who asks, as the record names it (`user:…`), once that is known. */
  caller?: string
  /** The operation that a client asks, by its name, once that is known. */
  operation?: string
  /** How many errors of each code it ended with, if it did. */
  errors?: Readonly<Record<string, number>>
  readonly [origin]?: Origin
  [organization]?: string
}

const present = new AsyncLocalStorage<Cause | undefined>()

/** What is being done at this moment, and what for; undefined for what the process does of its own accord. */
export const causeNow = (): Cause | undefined => present.getStore()

/** Does work, and whatever it begins, for this cause; null: for nobody, as timers and connections are that many share. */
export const doFor = <Result>(cause: Cause | null, work: () => Result): Result =>
  cause ? present.run(cause, work) : outsideTraces(() => present.run(undefined, work))

/** Notes who asks, once that is known. @param caller as the record names it @param inside the organization they work in, if any */
export function callIs(caller: string, inside: string | null = null): void {
  const cause = present.getStore()
  if (!cause) return
  cause.caller = caller
  if (inside !== null) cause[organization] = inside
}

/** The organization that present work is done for; undefined where none is known. */
export const organizationNow = (): string | undefined => present.getStore()?.[organization]

/** Does work for an organization, where whoever asked for it is not there any more. */
export const doForOrganization = <Result>(id: string, work: () => Result): Result => present.run({ ...present.getStore(), [organization]: id }, work)

/** The id under which all that is done for the same request is found. */
export const causeId = (): string | undefined => {
  const cause = present.getStore()
  return cause?.requestId ?? cause?.cause ?? cause?.fact
}

/** The request that caused the current work; undefined for work of the process itself. */
export const originNow = (): Origin | undefined => present.getStore()?.[origin]

/** Under this key the data of a job say what made it necessary; handlers do not see it. */
const causeKey = '_cause'

/** The data of a job with what makes it necessary. */
export function withCause(data: Readonly<Record<string, string>>): Record<string, string> {
  const now = present.getStore()
  const cause = causeId()
  return now && cause
    ? { ...data, [causeKey]: JSON.stringify({ cause, caller: now.caller, client: now.client, from: now[origin], trace: traceparentNow() }) }
    : { ...data }
}

/** What made a job necessary, and its data without that. */
export function splitCause(data: Readonly<Record<string, string>>): {
  readonly cause: Cause
  /** The trace that it is part of, as W3C writes it. */
  readonly trace: string | undefined
  readonly data: Readonly<Record<string, string>>
} {
  const { [causeKey]: written, ...rest } = data
  const { trace, from, ...cause } = written === undefined ? {} : (JSON.parse(written) as Cause & { readonly trace?: string; readonly from?: Origin })
  return { cause: { ...cause, ...(from && { [origin]: from }) }, trace, data: rest }
}

/** Header by which processes of the platform name the calling program. */
export const clientHeader = 'graphql-client-name'

/** Headers in which they tell each other where it asks from. Beside a seal they are believed, from outside never. */
export const addressHeader = 'x-client-address'
export const agentHeader = 'x-client-agent'

/** The header in which a subgraph finds which host a forwarded request came to. From outside it is never believed. */
export const hostHeader = 'x-client-host'

/** Names and values, in turn, of the headers that tell another process of the platform what this work is done for. */
export const causeHeaders = (): readonly string[] => {
  const { client, [origin]: from } = present.getStore() ?? {}
  return [
    ...(client === undefined ? [] : [clientHeader, client]),
    ...(from === undefined ? [] : [addressHeader, from.address]),
    ...(from?.agent === undefined ? [] : [agentHeader, from.agent]),
    ...traceHeaders(),
  ]
}

/** Where a request comes from. @param agent its User-Agent, as it came */
export const readOrigin = (address: string, agent: unknown): Origin => ({
  address,
  ...(typeof agent === 'string' && agent !== '' && { agent: printable(agent, longestAgent) }),
})

/** Characters of a User-Agent that are kept. */
const longestAgent = 300

/** Characters of a program's name that are kept. */
const longestClient = 100

/** What a program calls itself: by the headers of GraphQL clients, else by its User-Agent; undefined when it says nothing. @param header reads one */
export function readClient(header: (name: string) => unknown): string | undefined {
  const word = (...names: readonly string[]) => names.map(header).find((value): value is string => typeof value === 'string' && value !== '')
  const name = word('apollographql-client-name', clientHeader)
  const version = word('apollographql-client-version', 'graphql-client-version')
  const client = name === undefined ? word('user-agent') : version === undefined ? name : `${name}@${version}`
  return client === undefined ? undefined : printable(client, longestClient)
}

/** What a header may carry on: a caller writes what it likes. */
const printable = (text: string, most: number): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, most)
