import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Writing } from '../../../store/books.ts'
import type { agentStore } from '../../stores/agent.ts'
import type { connectorStore } from '../../stores/connector.ts'
import type { modelCallStore } from '../../stores/model-call.ts'
import type { personProfileStore } from '../../stores/person-profile.ts'
import type { profileAuthorizationStore } from '../../stores/profile-authorization.ts'
import type { reservedCallStore } from '../../stores/reserved-call.ts'
import type { Searching } from '../knowledge/search.ts'
import type { Models } from './models.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What agents answer with: everybody's rows, and the way to models. */
export interface ModelWork extends Writing, Searching {
  readonly agents: Opened<typeof agentStore>
  readonly connectors: Opened<typeof connectorStore>
  readonly modelCalls: Opened<typeof modelCallStore>
  readonly personProfiles: Opened<typeof personProfileStore>
  readonly profileAuthorizations: Opened<typeof profileAuthorizationStore>
  readonly reservedCalls: Opened<typeof reservedCallStore>
  readonly clock: Clock
  readonly log: Logger
  readonly models: Models
  /** Origin under which people reach the platform. */
  readonly publicUrl: string
}
