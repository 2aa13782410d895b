/** The widget of agents. Workflows, tasks, approvals and runs are counted once there are records of them. */
export const payload = {
  statistics: [
    { key: 'activeFlows', label: 'Active flows', value: 0 },
    { key: 'pendingTasks', label: 'Pending tasks', value: 0 },
    { key: 'pendingApprovals', label: 'Pending approvals', value: 0 },
    { key: 'runsToday', label: 'Runs today', value: 0 },
  ],
  items: [],
  nextAction: null,
  chart: null,
}
