import { idOfName } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { ConnectorRow, connectorStore } from '../../stores/connector.ts'
import { catalogueTools } from './catalogue/tools.ts'
import { platformTools } from './platform/tools.ts'

const kinds = [
  { name: 'Supergraph', kind: 'PLATFORM', tools: platformTools },
  { name: 'Mobile apps', kind: 'MOBILE_APP_CATALOGUE', tools: catalogueTools },
] as const

/** Kinds of which every organization has one connector. */
export const ownKinds: readonly ConnectorRow['kind'][] = kinds.map(({ kind }) => kind)

/** The id of the connector of a kind that an organization has one of. */
export const idOfOwn = (organizationId: string, kind: ConnectorRow['kind']): string => idOfName(organizationId, `connector ${kind}`)

/** Makes the connectors that every organization has, unless they are there. */
export async function provideConnectors(
  { connectors }: { readonly connectors: Pick<ReturnType<(typeof connectorStore)['open']>, 'ensure'> },
  organizationId: string,
  { now, transaction }: WriteTransaction,
): Promise<void> {
  for (const { name, kind, tools } of kinds)
    await connectors.ensure({ id: idOfOwn(organizationId, kind), organizationId, name, kind, status: 'HEALTHY', tools }, now, transaction)
}
