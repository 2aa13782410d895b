import type { Viewer } from '../../../viewer.ts'
import type { ViewerKind } from '../../resolvers.generated.ts'

/** A viewer's kind in the graph's spelling. */
export const kindToGraph = { user: 'USER', apiKey: 'API_KEY', service: 'SERVICE', anonymous: 'ANONYMOUS' } as const satisfies Record<Viewer['kind'], ViewerKind>
