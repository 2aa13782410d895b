import type { Sequelize } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import { stores, type Work } from '../../subgraphs/identity/nouns.ts'
import { contextsOf } from '../../subgraphs/store/context.ts'

/** Everything that identity keeps in a database, to be filled past every rule. */
export const identityOf = (sequelize: Sequelize, clock: Clock): Work => contextsOf('identity', stores, {}, { sequelize, clock }).everybodys('platform')
