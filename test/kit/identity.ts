import type { Sequelize } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import { outboxOf } from '../../platform/jobs/facts/outbox.ts'
import { type Job, stores } from '../../subgraphs/identity/context.ts'
import { contextsOf } from '../../subgraphs/store/context.ts'
import type { FactWriting } from '../../subgraphs/store/new-facts.ts'

/** What tests fill in past every rule, nobody is told. */
export const untold: FactWriting = { slug: 'identity', receivers: [], outbox: outboxOf('identity'), log: { info() {} }, wake() {} }

/** Everything that identity keeps in a database, to be filled past every rule. */
export const identityOf = (sequelize: Sequelize, clock: Clock): Job =>
  contextsOf('identity', stores, {}, { sequelize, clock }, untold).systemContext('platform')
