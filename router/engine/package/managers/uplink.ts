import { setTimeout as delay } from 'node:timers/promises'
import { isData } from '../../data/merge.ts'
import type { SubgraphHealthCheckFunction, SupergraphManager, SupergraphSdlHookOptions } from '../config.ts'
import { environment } from '../host/environment.ts'
import { defaultLogger } from '../host/logger.ts'
import { plainFetcher } from '../sources/http-request.ts'
import type { Fetcher, Logger } from '../types.ts'
import { version } from '../version.ts'
import { type Poll, poll } from './poll.ts'

const question = `query SupergraphSdl($apiKey: String!, $ref: String!, $ifAfterId: ID) {
  routerConfig(ref: $ref, apiKey: $apiKey, ifAfterId: $ifAfterId) {
    __typename
    ... on RouterConfigResult { id supergraphSdl: supergraphSDL minDelaySeconds }
    ... on FetchError { code message }
  }
}`

const prefix = 'An error occurred while fetching your schema from Apollo: '

/** Milliseconds after which an address that has failed is asked again; twice as long each time, a minute at most. */
const firstPauseMs = 1000
const longestPauseMs = 60_000

/** GraphOS gave no supergraph. */
export class UplinkFetcherError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UplinkFetcherError'
  }
}

export interface FailureToFetchSupergraphSdlFunctionParams {
  error: Error
  graphRef: string
  logger: Logger
  fetchCount: number
}

/** Returns the supergraph to begin with where GraphOS gives none. */
export type FailureToFetchSupergraphSdlDuringInit = (params: FailureToFetchSupergraphSdlFunctionParams) => Promise<string>

/** Returns another supergraph where GraphOS does not answer; null: the present one stays. */
export type FailureToFetchSupergraphSdlAfterInit = (
  params: FailureToFetchSupergraphSdlFunctionParams & { mostRecentSuccessfulFetchAt?: Date },
) => Promise<string | null>

export interface UplinkSupergraphManagerOptions {
  apiKey: string
  graphRef: string
  debug?: boolean
  logger?: Logger
  uplinkEndpoints?: string[] | undefined
  fallbackPollIntervalInMs?: number | undefined
  /** @default each address is asked three times */
  maxRetries?: number | undefined
  initialMaxRetries?: number | undefined
  fetcher?: Fetcher | undefined
  shouldRunSubgraphHealthcheck?: boolean | undefined
  onFailureToFetchSupergraphSdlDuringInit?: FailureToFetchSupergraphSdlDuringInit
  onFailureToFetchSupergraphSdlAfterInit?: FailureToFetchSupergraphSdlAfterInit
}

interface Answered {
  readonly id: string
  readonly supergraphSdl: string
  readonly minDelaySeconds?: number | null
}

/** Reads the supergraph from Apollo GraphOS, by its Uplink protocol, and follows its changes. */
export class UplinkSupergraphManager implements SupergraphManager {
  static readonly DEFAULT_REQUEST_TIMEOUT_MS = 30_000
  static readonly MIN_POLL_INTERVAL_MS = 10_000
  static readonly DEFAULT_UPLINK_ENDPOINTS: string[] = ['https://uplink.api.apollographql.com/', 'https://aws.uplink.api.apollographql.com/']

  readonly uplinkEndpoints: string[]
  private readonly options: UplinkSupergraphManagerOptions
  private readonly logger: Logger
  private readonly fetcher: Fetcher
  private readonly maxRetries: number
  private pauseMs: number
  private compositionId: string | null = null
  private fetchCount = 0
  private mostRecentSuccessfulFetchAt: Date | undefined
  private healthCheck: SubgraphHealthCheckFunction | undefined
  private polling: Poll | undefined
  private present = Promise.withResolvers<void>()
  private readonly ending = new AbortController()

  constructor(options: UplinkSupergraphManagerOptions) {
    this.options = options
    this.logger = options.logger ?? defaultLogger(options.debug)
    this.fetcher = options.fetcher ?? plainFetcher
    this.uplinkEndpoints = options.uplinkEndpoints ?? UplinkSupergraphManager.getUplinkEndpoints()
    this.maxRetries = options.maxRetries ?? this.uplinkEndpoints.length * 3 - 1
    const least = UplinkSupergraphManager.MIN_POLL_INTERVAL_MS
    this.pauseMs = options.fallbackPollIntervalInMs ?? least
    if (this.pauseMs < least) {
      this.logger.warn(`GraphOS may be asked every ${least} ms at most: \`fallbackPollIntervalInMs\` of ${this.pauseMs} counts as ${least}.`)
      this.pauseMs = least
    }
  }

  /** The addresses that the environment names in APOLLO_SCHEMA_CONFIG_DELIVERY_ENDPOINT, else those of GraphOS. */
  static getUplinkEndpoints(): string[] {
    return environment('APOLLO_SCHEMA_CONFIG_DELIVERY_ENDPOINT')?.split(',') ?? UplinkSupergraphManager.DEFAULT_UPLINK_ENDPOINTS
  }

  async initialize({ update, healthCheck }: SupergraphSdlHookOptions): Promise<{ supergraphSdl: string; cleanup: () => Promise<void> }> {
    if (this.options.shouldRunSubgraphHealthcheck) this.healthCheck = healthCheck
    let supergraphSdl: string | null
    try {
      supergraphSdl = await this.look(this.options.initialMaxRetries ?? this.maxRetries, 'first')
      if (!supergraphSdl) throw new Error('Invalid supergraph schema supplied during initialization.')
    } catch (cause) {
      this.failed(cause)
      throw cause
    }
    const again = async () => {
      try {
        const changed = await this.look(this.maxRetries, 'later')
        if (changed) update(changed)
      } catch (cause) {
        if (!this.ending.signal.aborted) this.failed(cause)
      }
      this.present.resolve()
      this.present = Promise.withResolvers()
    }
    this.polling = poll(again, () => this.pauseMs)
    return {
      supergraphSdl,
      cleanup: async () => {
        this.ending.abort()
        await this.polling?.stop()
      },
    }
  }

  /** Resolves when GraphOS has been asked again. */
  async nextFetch(): Promise<void> {
    if (this.polling) await this.present.promise
  }

  /** @returns null where nothing has changed */
  private async look(retries: number, when: 'first' | 'later'): Promise<string | null> {
    let supergraphSdl: string | null
    try {
      const answered = await this.askInTurn(retries)
      this.mostRecentSuccessfulFetchAt = new Date()
      if (!answered) return null
      this.compositionId = answered.id
      supergraphSdl = answered.supergraphSdl
      if (answered.minDelaySeconds) this.pauseMs = Math.max(answered.minDelaySeconds * 1000, this.options.fallbackPollIntervalInMs ?? 0)
    } catch (cause) {
      const { graphRef, onFailureToFetchSupergraphSdlDuringInit: atFirst, onFailureToFetchSupergraphSdlAfterInit: later } = this.options
      const params = { error: cause as Error, graphRef, logger: this.logger, fetchCount: this.fetchCount }
      const last = this.mostRecentSuccessfulFetchAt
      if (when === 'first' && atFirst) supergraphSdl = await atFirst(params)
      else if (when === 'later' && later) supergraphSdl = await later({ ...params, ...(last && { mostRecentSuccessfulFetchAt: last }) })
      else throw cause
      if (!supergraphSdl) return null
    }
    await this.healthCheck?.(supergraphSdl)
    return supergraphSdl
  }

  private async askInTurn(retries: number): Promise<Answered | null> {
    const seed = this.fetchCount++
    for (let turn = 0; ; turn += 1) {
      try {
        return await this.ask(this.uplinkEndpoints[(seed + turn) % this.uplinkEndpoints.length]!)
      } catch (cause) {
        if (turn >= retries || this.ending.signal.aborted) throw cause
        this.logger.debug(`Unable to fetch supergraph SDL (attempt ${turn + 1}), waiting before retry: ${(cause as Error).message}`)
        await delay(Math.min(longestPauseMs, firstPauseMs * 2 ** turn), undefined, { signal: this.ending.signal, ref: true })
      }
    }
  }

  /** @throws UplinkFetcherError when an address gives no supergraph */
  private async ask(endpoint: string): Promise<Answered | null> {
    const { apiKey, graphRef } = this.options
    const body = JSON.stringify({ query: question, variables: { apiKey, ref: graphRef, ifAfterId: this.compositionId } })
    const headers = {
      'content-type': 'application/json',
      'user-agent': `supergraph-gateway/${version}`,
      'apollographql-client-name': 'supergraph-gateway',
      'apollographql-client-version': version,
    }
    const signal = AbortSignal.any([AbortSignal.timeout(UplinkSupergraphManager.DEFAULT_REQUEST_TIMEOUT_MS), this.ending.signal])
    let status: string
    let read: unknown
    try {
      const response = await this.fetcher(endpoint, { method: 'POST', headers, body, signal })
      status = `${response.status} ${response.statusText}`
      if (response.ok || response.status === 400) read = await response.json()
    } catch (cause) {
      throw new UplinkFetcherError(prefix + (cause as Error).message)
    }
    if (!isData(read)) throw new UplinkFetcherError(prefix + status)
    if (Array.isArray(read.errors)) throw new UplinkFetcherError([prefix, ...read.errors.map(error => error?.message)].join('\n'))
    const said = isData(read.data) && isData(read.data.routerConfig) ? read.data.routerConfig : {}
    if (said.__typename === 'Unchanged') return null
    if (said.__typename === 'FetchError') throw new UplinkFetcherError(`${said.code}: ${said.message}`)
    if (typeof said.id !== 'string' || typeof said.supergraphSdl !== 'string') throw new UplinkFetcherError(`${prefix}${status}, without a supergraph`)
    return { id: said.id, supergraphSdl: said.supergraphSdl, minDelaySeconds: typeof said.minDelaySeconds === 'number' ? said.minDelaySeconds : null }
  }

  private failed(cause: unknown): void {
    this.logger.error(`UplinkSupergraphManager failed to update supergraph with the following error: ${(cause as Error).message ?? cause}`)
  }
}
