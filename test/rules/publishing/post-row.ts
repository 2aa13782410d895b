import { newId } from '../../../platform/ids.ts'
import type { PostRow } from '../../../subgraphs/publishing/stores/post.ts'

/** The moment at which rules are asked. */
export const now = new Date('2027-03-01T09:00:00.000Z')
export const inMs = (milliseconds: number): Date => new Date(now.getTime() + milliseconds)

/** A draft, with what a test changes of it. */
export function postRow(changes: Partial<PostRow> = {}): PostRow {
  const id = newId(now)
  return {
    brandId: newId(now),
    id,
    threadId: id,
    position: 1,
    platform: 'X',
    copy: 'Hello',
    target: null,
    status: 'DRAFT',
    approval: 'NONE',
    scheduledAt: null,
    publishedAt: null,
    platformPostId: null,
    permalink: null,
    failureCode: null,
    failureMessage: null,
    failedAt: null,
    attempts: 0,
    deliveryPhase: 'NONE',
    heldBack: false,
    claimId: null,
    claimUntil: null,
    connectionId: null,
    externalAccountId: null,
    waitsUntil: null,
    waitingSince: null,
    waits: 0,
    prepared: null,
    prepareAt: null,
    authorId: null,
    title: null,
    link: null,
    tags: [],
    visibility: null,
    media: [],
    firstComment: null,
    firstCommentStatus: null,
    firstCommentId: null,
    firstCommentMessage: null,
    groupId: null,
    campaignId: null,
    origin: 'PERSON',
    held: false,
    version: 1,
    createdAt: now,
    updatedAt: now,
    createdBy: 'user:somebody',
    ...changes,
  }
}
