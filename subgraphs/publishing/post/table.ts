import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'
import type { Connection } from '../../../platform/page.ts'
import { tenantOptions } from '../mapping.ts'
import type { Platform } from '../network/network.ts'
import type { DeliveryPhase, PostStatus } from './rules.ts'

export type PostApproval = 'NONE' | 'PENDING' | 'APPROVED' | 'CHANGES_REQUESTED' | 'REJECTED'

/** A place within an account of a network, as the client named it. */
export interface PostTarget {
  readonly kind: 'PAGE' | 'GROUP' | 'ORGANIZATION' | 'PHOTO_ACCOUNT' | 'THREAD_ACCOUNT'
  readonly externalId: string
  readonly name: string | null
}

/** Makes the model of posts on one database. */
export function definePostTable(sequelize: Sequelize) {
  class Post extends Model<InferAttributes<Post>, InferCreationAttributes<Post>> {
    declare brandId: string
    declare id: string
    declare threadId: string
    declare position: number
    declare platform: Platform
    declare copy: string
    declare target: PostTarget | null
    declare status: PostStatus
    declare approval: CreationOptional<PostApproval>
    declare scheduledAt: Date | null
    declare publishedAt: CreationOptional<Date | null>
    declare platformPostId: CreationOptional<string | null>
    declare permalink: CreationOptional<string | null>
    declare failureCode: CreationOptional<string | null>
    declare failureMessage: CreationOptional<string | null>
    declare failedAt: CreationOptional<Date | null>
    declare attempts: CreationOptional<number>
    declare deliveryPhase: CreationOptional<DeliveryPhase>
    declare claimId: CreationOptional<string | null>
    declare claimUntil: CreationOptional<Date | null>
    /** Known to wait for the earlier post of its thread: whoever publishes or deletes that one takes the mark away. */
    declare heldBack: CreationOptional<boolean>
    declare connectionId: CreationOptional<string | null>
    /** The network's account of the last attempt: its id for the post is told apart within it. */
    declare externalAccountId: CreationOptional<string | null>
    /** When a due post that could not be sent is tried again; null when it does not wait. */
    declare waitsUntil: CreationOptional<Date | null>
    declare waitingSince: CreationOptional<Date | null>
    /** How often it was put back since then. */
    declare waits: CreationOptional<number>
    /** Null for a post that was written with a key: no person stands behind it. */
    declare authorId: string | null
    declare idempotencyKey: CreationOptional<string | null>
    declare idempotencyHash: CreationOptional<string | null>
    declare version: CreationOptional<number>
    declare createdAt: Date
    declare updatedAt: Date
    declare createdBy: string
  }
  // Sequelize writes into what it is given: every attribute needs an object of its own.
  const text = () => ({ type: DataTypes.TEXT, allowNull: false })
  const maybeText = () => ({ type: DataTypes.TEXT })
  const maybeMoment = () => ({ type: DataTypes.DATE(3) })
  const moment = () => ({ type: DataTypes.DATE(3), allowNull: false })
  Post.init(
    {
      brandId: { type: DataTypes.UUID, primaryKey: true },
      id: { type: DataTypes.UUID, primaryKey: true },
      threadId: { type: DataTypes.UUID, allowNull: false },
      position: { type: DataTypes.INTEGER, allowNull: false },
      platform: text(),
      copy: text(),
      target: { type: DataTypes.JSONB },
      status: text(),
      approval: { ...text(), defaultValue: 'NONE' },
      scheduledAt: maybeMoment(),
      publishedAt: maybeMoment(),
      platformPostId: maybeText(),
      permalink: maybeText(),
      failureCode: maybeText(),
      failureMessage: maybeText(),
      failedAt: maybeMoment(),
      attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      deliveryPhase: { ...text(), defaultValue: 'NONE' },
      claimId: { type: DataTypes.UUID },
      claimUntil: maybeMoment(),
      heldBack: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
      connectionId: { type: DataTypes.UUID },
      externalAccountId: maybeText(),
      waitsUntil: maybeMoment(),
      waitingSince: maybeMoment(),
      waits: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      authorId: maybeText(),
      idempotencyKey: maybeText(),
      idempotencyHash: maybeText(),
      version: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 },
      createdAt: moment(),
      updatedAt: moment(),
      createdBy: text(),
    },
    tenantOptions(sequelize, 'posts'),
  )
  return Post
}

export type PostTable = ReturnType<typeof definePostTable>
export type PostRow = InferAttributes<InstanceType<PostTable>>
/** A page of them, as resolvers hand it on. */
export type PostConnectionRow = Connection<PostRow>
