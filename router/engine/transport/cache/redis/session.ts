import { randomBytes } from 'node:crypto'
import { type Command, createRunner } from './run.ts'
import { beatScript, openScript } from './scripts.ts'

/** Prefix of all keys and channels. */
const prefix = 'supergraph:cache:'

/** Milliseconds of connecting, and between two beats. */
const [connectMs, beatMs] = [5_000, 300]
/** Milliseconds without a beat after which drops may have been missed. */
const mostSilenceMs = 900
/** Milliseconds without a beat after which other connections are opened. */
const mostDeadMs = 5_000
/** Milliseconds for which the state outlives the last drop: longer than any entry. */
export const stateMs = 25 * 60 * 60 * 1000

/** A drop as the store announces it. */
export interface DropMessage {
  readonly seq: number
  /** Id of the router that dropped. */
  readonly from: string
  readonly cause: string
  /** Null for everything. */
  readonly labels: readonly string[] | null
}

/** Both connections to the store, as long as they last. */
export interface Session {
  /** Runs a command within the time limit. @throws when it fails or takes too long */
  run: Command
  readonly stateKey: string
  readonly epoch: string
  readonly channel: string
  entryKey(hash: string): string
  /** Number of the last drop that is known here. */
  seen(): number
  /** Whether all drops of the last second have arrived. */
  isCurrent(): boolean
  /** Resolves with the reason when the session is over: a connection is lost, or the store has lost its state. */
  readonly ended: Promise<string>
  end(reason: string): void
  close(): void
}

export interface SessionOptions {
  readonly url: string
  /** Id of this router. */
  readonly id: string
  readonly commandMs: number
  /** Takes drops in their order, this router's own included. */
  heard(message: DropMessage): void
  /** Called when a command failed or took too long. */
  failed(): void
}

/**
 * Connects to the store. Redis keeps no key for long that is not used by its present process: the names of all of them
 * hold its run id, for a store that begins again with an old copy knows nothing of later drops.
 * @throws when the store cannot be reached
 */
export async function openSession({ url, id, commandMs, heard, failed }: SessionOptions): Promise<Session> {
  const { createClient } = await import('@redis/client')
  const ended = Promise.withResolvers<string>()
  const commands = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    socket: { connectTimeout: connectMs, reconnectStrategy: false },
  })
  const messages = commands.duplicate()
  for (const client of [commands, messages])
    client.on('error', (error: Error) => ended.resolve(error.message)).on('end', () => ended.resolve('it closed the connection'))
  let beating: NodeJS.Timeout | undefined
  const close = () => {
    clearTimeout(beating)
    for (const client of [commands, messages]) if (client.isOpen) client.destroy()
  }
  try {
    await Promise.all([commands.connect(), messages.connect()])
    const run = createRunner(words => commands.sendCommand([...words]), commandMs)
    const info = String(await commands.sendCommand(['INFO', 'server']))
    const stateKey = `${prefix}${/^run_id:(\w+)/m.exec(info)?.[1] ?? 'state'}`
    const [epoch] = await openState()
    const channel = `${prefix}${epoch}`
    const own = `${channel}:${id}`
    let [seen, confirmedAt] = [-1, performance.now() - mostSilenceMs]
    /** Messages that arrive before the number of the last drop is known. */
    let early: DropMessage[] | null = []
    const take = (message: DropMessage) => {
      if (message.seq <= seen) return
      if (message.seq !== seen + 1) return ended.resolve('messages were lost')
      seen = message.seq
      heard(message)
    }
    await messages.subscribe(channel, text => {
      const message = JSON.parse(text) as DropMessage
      if (early) early.push(message)
      else take(message)
    })
    const sentAt = new Map<number, number>()
    await messages.subscribe(own, text => {
      const [beat, seq] = text.split(' ').map(Number) as [number, number]
      if (seq !== seen) return ended.resolve('messages were lost')
      confirmedAt = Math.max(confirmedAt, sentAt.get(beat) ?? confirmedAt)
      for (const each of sentAt.keys()) if (each <= beat) sentAt.delete(each)
    })
    const [same, last] = await openState()
    if (same !== epoch) throw new Error('its state was lost')
    seen = last
    const waiting = early
    early = null
    for (const message of waiting) take(message)

    let [beats, isSlow] = [0, false]
    const beat = async () => {
      if (performance.now() - confirmedAt > mostDeadMs) return ended.resolve('it is silent')
      const number = ++beats
      sentAt.set(number, performance.now())
      if (sentAt.size > 100) sentAt.delete(sentAt.keys().next().value!)
      try {
        const answer = await run(beatScript, [stateKey], [epoch, own, String(number)])
        if (answer === 0) ended.resolve('its state was lost')
        isSlow = false
      } catch {
        isSlow = true
        failed()
      }
      beating = setTimeout(beat, beatMs).unref()
    }
    await beat()
    return {
      async run(...command) {
        try {
          const answer = await run(...command)
          if (answer === 0) ended.resolve('its state was lost')
          return answer
        } catch (error) {
          isSlow = true
          failed()
          throw error
        }
      },
      stateKey,
      epoch,
      channel,
      entryKey: hash => `${channel}:${hash}`,
      seen: () => seen,
      isCurrent: () => !isSlow && performance.now() - confirmedAt < mostSilenceMs,
      ended: ended.promise,
      end: ended.resolve,
      close,
    }

    async function openState(): Promise<[epoch: string, seq: number]> {
      const [epoch, seq] = (await run(openScript, [stateKey], [randomBytes(12).toString('base64url'), String(stateMs)], connectMs)) as [string, string]
      return [epoch, Number(seq)]
    }
  } catch (error) {
    close()
    throw error
  }
}
