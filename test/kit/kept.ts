import { createCipher } from '../../platform/cipher.ts'
import type { Table } from '../../platform/sql/table.ts'
import type { listed } from '../../router/start/listed.generated.ts'
import { stores as agents } from '../../subgraphs/agents/context.ts'
import { stores as identity } from '../../subgraphs/identity/context.ts'
import { stores as launcher } from '../../subgraphs/launcher/context.ts'
import { stores as payments } from '../../subgraphs/payments/context.ts'
import { stores as providers } from '../../subgraphs/providers/context.ts'
import { stores as publishing } from '../../subgraphs/publishing/context.ts'
import type { List } from '../../subgraphs/store/list.ts'

/** A store that stands on a table of its own. */
export interface Kept {
  readonly table: Table
  readonly lists: Readonly<Record<string, List<Table>>>
}

const kept = (stores: object): readonly Kept[] => Object.values(stores).filter((each): each is Kept => 'table' in each)

const cipher = createCipher([{ id: 'test', key: Buffer.alloc(32) }])

/** What each subgraph keeps; one that is listed in `supergraph.yaml` and stands not here is a mistake of types. */
export const keptBy: Readonly<Record<keyof typeof listed, readonly Kept[]>> = {
  agents: kept(agents),
  identity: kept(identity),
  launcher: kept(launcher(() => Promise.reject(new Error('nobody is asked')), { read: async () => [] })),
  payments: kept(payments),
  providers: kept(providers(cipher)),
  publishing: kept(publishing(cipher)),
}
