/** What the widget counts and shows. */
export interface WidgetFacts {
  readonly scheduledToday: number
  readonly failed: number
  readonly publishedThisWeek: number
  readonly next: { readonly id: string; readonly copy: string; readonly scheduledAt: Date } | null
}

const dayMs = 86_400_000

/** The UTC day around a moment. */
export function dayOf(now: Date): { from: Date; to: Date } {
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
  return { from, to: new Date(from.getTime() + dayMs) }
}

/** The Monday, 00:00 UTC, of the week around a moment. */
export function weekBegin(now: Date): Date {
  const { from } = dayOf(now)
  return new Date(from.getTime() - ((from.getUTCDay() + 6) % 7) * dayMs)
}

/** How much of a text a widget shows, in characters. */
const titleLength = 80

const titleOf = (copy: string): string => {
  const line = copy.split('\n', 1)[0]!.trim()
  const characters = [...line]
  return characters.length <= titleLength ? line || 'Untitled post' : `${characters.slice(0, titleLength - 1).join('')}…`
}

/** The widget of publishing; it says nothing of the moment it was made at, so an equal one means that nothing changed. */
export function payload(facts: WidgetFacts, publicUrl: string) {
  const posts = `${publicUrl}/publishing/api/posts`
  return {
    statistics: [
      { key: 'scheduledToday', label: 'Scheduled today', value: facts.scheduledToday },
      { key: 'failed', label: 'Failed', value: facts.failed },
      { key: 'publishedThisWeek', label: 'Published this week', value: facts.publishedThisWeek },
    ],
    items: facts.next ? [{ id: facts.next.id, title: titleOf(facts.next.copy), at: facts.next.scheduledAt, url: `${posts}/${facts.next.id}` }] : [],
    nextAction:
      facts.failed > 0
        ? { label: facts.failed === 1 ? 'Look at the failed post' : `Look at ${facts.failed} failed posts`, url: `${posts}?status=failed` }
        : null,
    chart: null,
  }
}
