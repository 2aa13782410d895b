import type { StreamOutbound } from '../../../../platform/outbound/stream.ts'
import { lineOf, StartError } from '../../../../start-error.ts'
import { registerFigures } from '../../../metrics/figure.ts'
import type { Process } from '../../startup.ts'
import { openDiskCache } from './kept.ts'
import type { RemoteSource, Unchanged, Version } from './remote-source.ts'
import type { Source } from './source.ts'

/** Opens a source that is asked at intervals, and whose last version in use is kept on disk. */
export function openPolled({ config, log, metrics }: Process, remote: RemoteSource, stream: StreamOutbound): Source {
  const { pollMs, folder } = config.supergraphs
  const { name } = remote
  const cache = openDiskCache(folder, remote.identity)
  let kept = cache.read()
  /** The version that was read last, whether or not it could be used: its tag asks for another one. */
  let last = kept && { sdl: kept.sdl, tag: kept.tag }
  /** The address that gave it: another one may know it by another tag. */
  let from = kept && kept.from < remote.addresses ? kept.from : 0
  let pauseMs = 0
  let isAway = false
  let isUnkept = false
  let readAt = kept ? Date.parse(kept.at) : Date.now()
  const polls = { changed: 0, unchanged: 0, refused: 0, failed: 0 }

  /** Asks the address that answered last, then the others. @throws the first one's error when none answers */
  const ask = async (): Promise<string | null> => {
    let failure: unknown
    for (let turn = 0; turn < remote.addresses; turn += 1) {
      const address = (from + turn) % remote.addresses
      let version: Version | Unchanged
      try {
        version = await remote.ask(stream, address, address === from ? (last?.tag ?? null) : null)
      } catch (error) {
        failure ??= error
        continue
      }
      pauseMs = version.pauseMs ?? 0
      readAt = Date.now()
      if (version.sdl === null) return null
      const isNew = version.sdl !== last?.sdl
      last = { sdl: version.sdl, tag: version.tag }
      from = address
      return isNew ? version.sdl : null
    }
    throw failure
  }

  registerFigures(metrics, [
    {
      name: 'supergraph_source_polls_total',
      help: 'Times that the source of the supergraph was asked for another version, by outcome.',
      labels: ['outcome'],
      read: () => Object.entries(polls).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    { name: 'supergraph_source_age_seconds', help: 'Seconds since the source of the supergraph last answered.', read: () => (Date.now() - readAt) / 1000 },
  ])

  return {
    name,
    kept: () => kept,
    async read() {
      try {
        return (await ask()) ?? last!.sdl
      } catch (error) {
        isAway = true
        if (!kept) throw new StartError(`${name} cannot be read (${lineOf(error)}), and no supergraph of it is kept in ${folder}: make it reachable`, error)
        log.error(`${name} cannot be read (${lineOf(error)}): starts with the supergraph of ${kept.at}, which was kept`)
        return kept.sdl
      }
    },
    keep(sdl) {
      if (sdl !== last?.sdl || sdl === kept?.sdl) return
      kept = { sdl, tag: last.tag, from, at: new Date().toISOString() }
      try {
        cache.write(kept)
        isUnkept = false
      } catch (error) {
        // Once: the next version will not fit either.
        if (!isUnkept) log.warn(`the supergraph of ${name} cannot be kept (${lineOf(error)}): a start without the network would fail; see SUPERGRAPH_CACHE_DIR`)
        isUnkept = true
      }
    },
    follow(changed) {
      let timer: NodeJS.Timeout | undefined
      let running: Promise<void> | null = null
      let isOver = false
      const poll = async () => {
        try {
          const sdl = await ask()
          if (isOver) return
          if (isAway) log.warn(`${name} can be read again`)
          isAway = false
          if (sdl === null) polls.unchanged += 1
          else polls[(await changed(sdl)) ? 'changed' : 'refused'] += 1
        } catch (error) {
          if (isOver) return
          polls.failed += 1
          // Once, not at each poll.
          if (!isAway) log.error(`${name} cannot be read (${lineOf(error)}); the present graph stays in use`)
          isAway = true
        }
      }
      const look = () => {
        if (running || isOver) return
        clearTimeout(timer)
        running = poll().finally(() => {
          running = null
          schedule()
        })
      }
      const schedule = () => {
        if (isOver) return
        timer = setTimeout(look, Math.max(pollMs, remote.leastMs, pauseMs)).unref()
      }
      schedule()
      return {
        look,
        stop() {
          isOver = true
          clearTimeout(timer)
        },
      }
    },
  }
}
