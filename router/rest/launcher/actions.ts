import { nounRoutes } from '../derive/route.ts'

const item = `
  id key app kind severity title body subject { service id } url status dueAt assigneeId: assignee { id } snoozedUntil
  organizationId: organization { id } openedAt closedAt closedById: closedBy { id } version createdAt`

export const actionItemRows = nounRoutes({
  select: {
    // A snooze belongs to one person, so it changes no version.
    ActionItem: { fields: item, changing: ['status', 'snoozedUntil'] },
    ActionItemsReport: `results { id item { ${item} } error { code message } } succeeded failed`,
  },
  routes: {
    'GET /api/actions': { run: 'actionItems', list: 'actions' },
    'GET /api/actions/:id': 'actionItem',
    'POST /api/actions/:id/complete': { run: 'completeActionItem', mayBeEmpty: true },
    'POST /api/actions/:id/reopen': { run: 'reopenActionItem', mayBeEmpty: true },
    'POST /api/actions/:id/snooze': 'snoozeActionItem',
    'POST /api/actions/:id/assign': 'assignActionItem',
    'POST /api/actions/complete': 'completeActionItems',
  },
})
