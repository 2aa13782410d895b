import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { launchExchanges } from './exchanges.ts'
import { launchResolvers } from './resolvers.ts'

/** Launches of apps, and the links that open native ones. */
export const launch: Noun<At> = { resolvers: launchResolvers, exchanges: launchExchanges }
