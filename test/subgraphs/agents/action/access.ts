import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, change, row, writers } from '../../../access/row.ts'

const read: readonly Scope[] = ['agents:agents.read']
const invoke: readonly Scope[] = ['agents:runs.invoke']

export const access: AccessRows = {
  fields: [
    row(
      'Mutation.executeAction',
      invoke,
      read,
      writers,
      change('executeAction', ids => `connectorId: "${ids.connector}", tool: "create_note", arguments: { text: "x" }`, 'id'),
      'executeAction',
    ),
    row(
      'Approval.connector',
      ['agents:workflows.read', 'agents:agents.read'],
      ['agents:workflows.read'],
      // A question is of no connector.
      'refused nothing refused nothing nothing nothing hidden',
      ids => `{ approval(id: "${ids.approval}") { connector { id } } }`,
      'approval.connector',
    ),
  ],
  routes: [
    {
      at: 'POST /agents/api/actions',
      scopes: invoke,
      less: read,
      cells: writers,
      path: () => '/agents/api/actions',
      body: ({ connector }) => ({ connectorId: connector, tool: 'create_note', arguments: { text: 'x' } }),
    },
  ],
}
