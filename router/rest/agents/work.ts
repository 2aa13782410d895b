import { nounRoutes } from '../derive/route.ts'

const report = 'id title kind version text createdAt updatedAt'

/** What an organization's work brings forth, and what it is overseen by. */
export const workRows = nounRoutes({
  select: {
    Report: report,
    WorkFeedItem: 'id at kind title actor userId: user { id }',
    Task: 'id title body status assigneeId: assignee { id } dueAt version createdAt updatedAt',
    OperatingWorkspace: 'id state killSwitch { engaged reason at userId: user { id } } version',
  },
  routes: {
    'GET /api/reports': 'reports',
    'GET /api/reports/:id': { run: 'report', select: `${report} versions { version text createdAt }` },
    'GET /api/work-feed': 'workFeed',
    'GET /api/tasks': 'tasks',
    'POST /api/tasks': 'createTask',
    'GET /api/tasks/:id': 'task',
    'PUT /api/tasks/:id': 'updateTask',
    'GET /api/workspace': 'operatingWorkspace',
    'PUT /api/workspace': 'updateOperatingWorkspace',
  },
})
