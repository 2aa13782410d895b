import { readFileSync, statSync } from 'node:fs'
import type { SupergraphManager, SupergraphSdlHookOptions } from '../../../engine/package/config.ts'
import { poll } from '../../../engine/package/managers/poll.ts'
import { UplinkSupergraphManager } from '../../../engine/package/managers/uplink.ts'
import type { Logger } from '../../../engine/package/types.ts'

/** Settings of sources, by their variables. */
export type SourceSettings = Readonly<Record<string, string | undefined>>

/** Time limit in ms of one question, and maximum bytes of a supergraph. */
const askMs = 10_000
const mostBytes = 32 * 1024 * 1024

/** Milliseconds between two looks at a file. */
const fileMs = 1000

/**
 * Returns what brings the supergraph that was named: a file, addresses with commas between, or `uplink`.
 * @throws Error with one line for a source that is not understood, or lacks its settings
 */
export function sourceOf(named: string, settings: SourceSettings, logger: Logger): SupergraphManager {
  if (named === 'uplink') return uplinkOf(settings, logger)
  if (/^https?:\/\//i.test(named))
    return addressesOf(
      named.split(',').map(each => each.trim()),
      settings,
      logger,
    )
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(named))
    throw new Error(`the source "${named}" is not understood: name a file, http(s) addresses with commas between, or uplink`)
  return fileOf(named, logger)
}

function uplinkOf({ APOLLO_KEY: apiKey, APOLLO_GRAPH_REF: graphRef, APOLLO_UPLINK_ENDPOINTS: endpoints }: SourceSettings, logger: Logger): SupergraphManager {
  if (!apiKey || !graphRef) throw new Error('the source uplink needs APOLLO_KEY and APOLLO_GRAPH_REF')
  return new UplinkSupergraphManager({ apiKey, graphRef, logger, ...(endpoints && { uplinkEndpoints: endpoints.split(',') }) })
}

function fileOf(path: string, logger: Logger): SupergraphManager {
  const read = () => {
    try {
      return readFileSync(path, 'utf8')
    } catch (cause) {
      throw new Error(`${path} cannot be read (${(cause as NodeJS.ErrnoException).code}): name a file with a supergraph's SDL`, { cause })
    }
  }
  const changedAt = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return {
    async initialize({ update }: SupergraphSdlHookOptions) {
      let known = changedAt()
      const supergraphSdl = read()
      const look = async () => {
        const present = changedAt()
        if (present === known || present === 0) return
        known = present
        attempt(path, logger, () => update(read()))
      }
      const polling = poll(look, () => fileMs)
      return { supergraphSdl, cleanup: () => polling.stop() }
    },
  }
}

/** Addresses that answer with the SDL; a version is known by its ETag. The next address is asked where one fails. */
function addressesOf(urls: readonly string[], settings: SourceSettings, logger: Logger): SupergraphManager {
  const wrong = urls.find(url => !URL.canParse(url))
  if (wrong !== undefined) throw new Error(`the source "${wrong}" is no address`)
  const pauseMs = Math.max(1000, Number(settings.SUPERGRAPH_POLL_MS ?? 10_000) || 10_000)
  const own = headersOf(settings.SUPERGRAPH_HEADERS)
  const key = settings.HIVE_CDN_KEY
  let tag: string | null = null
  let from = 0
  const askOne = async (url: string, known: string | null): Promise<string | null> => {
    const { origin, pathname } = new URL(url)
    const headers = { ...own, ...(key && { 'x-hive-cdn-key': key }), ...(known && { 'if-none-match': known }) }
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(askMs) })
    if (answer.status === 304 && known) return null
    if (answer.status !== 200) throw new Error(`${origin}${pathname} answered ${answer.status}`)
    const text = await answer.text()
    if (text.length > mostBytes) throw new Error(`${origin}${pathname} answered with more than ${mostBytes} bytes`)
    tag = answer.headers.get('etag')
    return text
  }
  const ask = async (): Promise<string | null> => {
    let failure: unknown
    for (let turn = 0; turn < urls.length; turn += 1) {
      const at = (from + turn) % urls.length
      try {
        const text = await askOne(urls[at]!, turn === 0 ? tag : null)
        from = at
        return text
      } catch (cause) {
        failure ??= cause
      }
    }
    throw failure
  }
  return {
    async initialize({ update }: SupergraphSdlHookOptions) {
      let known = (await ask())!
      const look = async () => {
        try {
          const text = await ask()
          if (text === null || text === known) return
          known = text
          attempt('the source', logger, () => update(text))
        } catch (cause) {
          logger.error(`${(cause as Error).message}; the present graph stays in use`)
        }
      }
      const polling = poll(look, () => pauseMs)
      return { supergraphSdl: known, cleanup: () => polling.stop() }
    },
  }
}

function attempt(name: string, logger: Logger, work: () => void): void {
  try {
    work()
  } catch (cause) {
    logger.error(`${name} holds another text that cannot be served: ${(cause as Error).message.split('\n', 1)[0]}; the former graph stays in use`)
  }
}

/** @throws Error for a text that is no JSON object of strings */
function headersOf(text: string | undefined): Record<string, string> {
  if (!text) return {}
  try {
    const read = JSON.parse(text)
    if (typeof read === 'object' && read !== null && Object.values(read).every(value => typeof value === 'string')) return read
  } catch {
    // Told below.
  }
  throw new Error('SUPERGRAPH_HEADERS must be a JSON object of header names and values')
}
