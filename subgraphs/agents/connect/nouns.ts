import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { actionResolvers } from './action/resolvers.ts'
import { connector } from './connector/noun.ts'
import { mobileAppResolvers } from './mobile-app/resolvers.ts'

/** Connectors, and what is called of them outside workflows. */
export const connectNouns: Readonly<Record<string, Noun<At>>> = {
  connector,
  mobileApp: { resolvers: mobileAppResolvers },
  action: { resolvers: actionResolvers },
}
