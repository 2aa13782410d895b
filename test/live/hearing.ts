import type { EventIds, Events } from '../../platform/events.ts'

/** What a process hears of topics from now on. */
export function hear(events: Pick<Events, 'listen'>, ...topics: string[]) {
  const heard: EventIds[] = []
  const stream = events.listen(topics)
  const listening = (async () => {
    for await (const ids of stream) heard.push(ids)
  })()
  return {
    heard,
    async end() {
      await stream.return()
      await listening
    },
  }
}

export const ids = (heard: readonly EventIds[]) => heard.map(({ id }) => id)
