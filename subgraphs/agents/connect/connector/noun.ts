import { createKeyCheck } from '../../../store/key-check.ts'
import type { Noun } from '../../../wiring/define.ts'
import type { At } from '../../context.ts'
import { openHeaders } from '../../stores/connector.ts'
import { connectorResolvers } from './resolvers.ts'

/** Connectors: servers whose tools are called. */
export const connector: Noun<At> = {
  resolvers: connectorResolvers,
  readiness: ({ foundation: { sequelize, cipher }, log }) => [
    createKeyCheck(sequelize, {
      table: 'agents.connectors',
      columns: [{ column: 'headers', open: (id, headers) => openHeaders(cipher, { id, headers }) }],
      consequence: 'connectors cannot be called: their headers were',
      log,
    }),
  ],
}
