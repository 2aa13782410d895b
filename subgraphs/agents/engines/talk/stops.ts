import type { Logger } from 'pino'
import type { conversationMessageStore } from '../../stores/talk/message.ts'

/** How often replies under way are looked at, in ms: a call ends within a second of the stop, whichever process was asked for it. */
const everyMs = 500

/** A reply that this process writes. */
interface Held {
  readonly id: string
  readonly claimId: string | null
}

/** A reply under watch, until it is disposed. */
export interface Watching extends Disposable {
  /** Aborts once the reply is not this writer's any more. */
  readonly signal: AbortSignal
}

/** What ends the calls of replies that a person stopped. */
export interface Stops {
  watch(reply: Held): Watching
}

interface StopsWork {
  readonly conversationMessages: Pick<ReturnType<typeof conversationMessageStore.open>, 'held'>
  readonly log: Logger
}

/**
 * Opens what ends the calls of stopped replies: one look of a process for all that it writes. Events may be lost between
 * processes, so it reads the replies themselves.
 */
export function openStops(job: () => StopsWork): Stops {
  const watched = new Map<AbortController, Held>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    const { conversationMessages, log } = job()
    const those = [...watched]
    try {
      const held = await conversationMessages.held(those.map(([, reply]) => reply))
      for (const [controller, { claimId }] of those) if (claimId === null || !held.has(claimId)) controller.abort()
    } catch (error) {
      log.warn({ err: error, replies: those.length }, 'stopped replies could not be looked for; the next look retries')
    } finally {
      isLooking = false
    }
  }

  return {
    watch(reply) {
      const controller = new AbortController()
      watched.set(controller, reply)
      timer ??= setInterval(() => void look(), everyMs).unref()
      return {
        signal: controller.signal,
        [Symbol.dispose]() {
          watched.delete(controller)
          if (watched.size > 0) return
          clearInterval(timer)
          timer = undefined
        },
      }
    },
  }
}
