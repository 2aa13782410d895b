import { titleOf } from '../../news/announce.ts'
import type { WidgetFacts } from '../../stores/insight/widget.ts'

/** Content of publishing's widget; it does not contain the time, so that equal content means that nothing changed. */
export function payload(facts: WidgetFacts, publicUrl: string) {
  const posts = `${publicUrl}/publishing/posts`
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
