import { type AccessRows, all, change, constant, people, row, services, unrelated } from '../../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.handoff', all, unrelated, services, constant(`{ handoff(code: "${'x'.repeat(43)}") { code } }`), 'handoff'),
    row(
      'Mutation.createHandoff',
      all,
      unrelated,
      people,
      change('createHandoff', () => 'service: "publishing"', 'code'),
      'createHandoff',
    ),
    row(
      'Handoff.service',
      all,
      unrelated,
      people,
      change('createHandoff', () => 'service: "publishing"', 'service { id }'),
      'createHandoff.service',
    ),
  ],
  routes: [
    {
      at: 'POST /identity/api/auth/handoff',
      scopes: all,
      less: unrelated,
      cells: people,
      path: () => '/identity/api/auth/handoff',
      body: () => ({ service: 'publishing' }),
    },
  ],
}
