import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import { tenantOptions } from '../mapping.ts'
import type { Platform, RefusalReason } from '../network/network.ts'

/** NOT_DELIVERED: the call was made, and the network does not have the post. NOT_SENT: the call surely was not made. */
export type AttemptOutcome = 'DELIVERED' | 'REFUSED' | 'UNKNOWN' | 'NOT_DELIVERED' | 'NOT_SENT'

/** Makes the model of delivery attempts on one database: one row before each call that cannot be taken back. */
export function defineAttemptTable(sequelize: Sequelize) {
  class Attempt extends Model<InferAttributes<Attempt>, InferCreationAttributes<Attempt>> {
    declare brandId: string
    declare id: string
    /** Null once the post is deleted: what was sent with its text still counts for the account. */
    declare postId: string | null
    declare number: number
    declare connectionId: string | null
    declare platform: Platform
    /** The account that it was made for: several brands may publish there. */
    declare externalAccountId: string
    declare copy: string
    declare inReplyTo: string | null
    declare startedAt: Date
    declare finishedAt: CreationOptional<Date | null>
    /** Null: interrupted, or under way. */
    declare outcome: CreationOptional<AttemptOutcome | null>
    declare platformPostId: CreationOptional<string | null>
    declare detail: CreationOptional<string | null>
    /** With which code the network refused the call, also when the outcome is in doubt for all that. */
    declare refusal: CreationOptional<RefusalReason | null>
    /** How often the network was asked about it. */
    declare reconciled: CreationOptional<number>
    /** When to ask next; null: not to be asked. */
    declare reconcileAt: CreationOptional<Date | null>
    declare version: CreationOptional<number>
    declare createdAt: Date
    declare updatedAt: Date
    declare createdBy: string
  }
  // Sequelize writes into what it is given: every attribute needs an object of its own.
  const text = () => ({ type: DataTypes.TEXT, allowNull: false })
  const moment = () => ({ type: DataTypes.DATE(3), allowNull: false })
  const count = () => ({ type: DataTypes.INTEGER, allowNull: false })
  Attempt.init(
    {
      brandId: { type: DataTypes.UUID, primaryKey: true },
      id: { type: DataTypes.UUID, primaryKey: true },
      postId: { type: DataTypes.UUID },
      number: count(),
      connectionId: { type: DataTypes.UUID },
      platform: text(),
      externalAccountId: text(),
      copy: text(),
      inReplyTo: { type: DataTypes.TEXT },
      startedAt: moment(),
      finishedAt: { type: DataTypes.DATE(3) },
      outcome: { type: DataTypes.TEXT },
      platformPostId: { type: DataTypes.TEXT },
      detail: { type: DataTypes.TEXT },
      refusal: { type: DataTypes.TEXT },
      reconciled: { ...count(), defaultValue: 0 },
      reconcileAt: { type: DataTypes.DATE(3) },
      version: { ...count(), defaultValue: 1 },
      createdAt: moment(),
      updatedAt: moment(),
      createdBy: text(),
    },
    tenantOptions(sequelize, 'attempts'),
  )
  return Attempt
}

export type AttemptTable = ReturnType<typeof defineAttemptTable>
export type AttemptRow = InferAttributes<InstanceType<AttemptTable>>
