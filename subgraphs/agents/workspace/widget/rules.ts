import { addressOfTask } from '../../engines/task/task.ts'
import type { WidgetFacts } from '../../stores/workspace/widget.ts'

/**
 * The widget of agents: workflows in use, what waits for people, and runs of the day.
 * @param publicUrl origin under which people reach the platform
 */
export function payload({ activeFlows, pendingTasks, pendingApprovals, runsToday, pending, nextTask }: WidgetFacts, publicUrl: string) {
  const items = pending.map(({ id, title, at }) => ({ id, title, at, url: `${publicUrl}/agents/api/approvals/${id}` }))
  return {
    statistics: [
      { key: 'activeFlows', label: 'Active flows', value: activeFlows },
      { key: 'pendingTasks', label: 'Pending tasks', value: pendingTasks },
      { key: 'pendingApprovals', label: 'Pending approvals', value: pendingApprovals },
      { key: 'runsToday', label: 'Runs today', value: runsToday },
    ],
    items,
    nextAction: items[0]
      ? { label: `Decide: ${items[0].title}`, url: items[0].url }
      : nextTask && { label: `Do: ${nextTask.title}`, url: addressOfTask(publicUrl, nextTask) },
    chart: null,
  }
}
