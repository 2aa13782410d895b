/** Does something with each item, several at a time: the next ones begin when all of those before have ended. */
export async function severalAtATime<Item>(items: readonly Item[], together: number, run: (item: Item) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += together) await Promise.all(items.slice(at, at + together).map(run))
}
