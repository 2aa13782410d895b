import type { Sequelize } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import { type Job, stores } from '../../subgraphs/identity/context.ts'
import { contextsOf } from '../../subgraphs/store/context.ts'

/** Everything that identity keeps in a database, to be filled past every rule. */
export const identityOf = (sequelize: Sequelize, clock: Clock): Job => contextsOf('identity', stores, {}, { sequelize, clock }).everybodys('platform')
