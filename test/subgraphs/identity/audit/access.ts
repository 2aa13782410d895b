import { newId } from '../../../../platform/ids.ts'
import { type AccessRows, all, constant, managers, people, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.auditLog', all, unrelated, managers, constant('{ auditLog { nodes { id } } }'), 'auditLog'),
    row('Query.accountActivity', all, unrelated, people, constant('{ accountActivity { nodes { id } } }'), 'accountActivity'),
    // What keys have done names no person: one of a person is looked at, in either organization.
    row(
      'AuditEntry.user',
      all,
      unrelated,
      managers,
      constant('{ auditLog(action: "organization.updated") { nodes { user { id } } } }'),
      'auditLog.nodes.user',
      async ({ graph, owner, outsider }) => {
        const name = newId()
        const document = 'mutation($name: String!) { updateOrganization(input: { name: $name }) { id } }'
        for (const as of [owner, outsider]) (await graph.execute(document, { name }, { as })).data()
        return name
      },
    ),
    row(
      'AuditEntry.details',
      all,
      unrelated,
      managers,
      constant('{ auditLog(action: "api_key.created") { nodes { details { key } } } }'),
      'auditLog.nodes.details',
    ),
  ],
}
