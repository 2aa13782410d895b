import { expect, test } from 'vitest'
import { failure } from '../../../subgraphs/publishing/delivery/failure.ts'
import { factsOf, factsOfMove } from '../../../subgraphs/publishing/news/announce.ts'
import { eventsOfConnection } from '../../../subgraphs/publishing/news/webhook/told.ts'
import type { ConnectionRow } from '../../../subgraphs/publishing/stores/connection.ts'
import type { PostRow } from '../../../subgraphs/publishing/stores/post.ts'
import { factKinds } from '../../../subgraphs/store/fact-kinds.ts'

const place = { organizationId: '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e', publicUrl: 'https://example.test' }
const at = new Date('2027-03-01T09:00:00Z')
const [id, brandId, threadId] = ['0197a3c2-5e1f-7c4b-9d2e-000000000001', '0197a3c2-5e1f-7c4b-9d2e-000000000002', '0197a3c2-5e1f-7c4b-9d2e-000000000003']
const post = {
  id,
  brandId,
  threadId,
  platform: 'X',
  copy: 'A text',
  status: 'SCHEDULED',
  deliveryPhase: 'NONE',
  approval: 'NONE',
  scheduledAt: at,
  createdAt: at,
  failureCode: null,
  failedAt: null,
  updatedAt: at,
} as PostRow
const failed: PostRow = { ...post, status: 'FAILED', ...failure('NETWORK_REFUSED', 'X', 'no', at) }
const unknown: PostRow = { ...post, status: 'FAILED', deliveryPhase: 'UNKNOWN', ...failure('OUTCOME_UNKNOWN', 'X', 'silence', at) }
const published: PostRow = { ...post, status: 'PUBLISHED' }

const kinds = (before: PostRow | null, after: PostRow | null) =>
  factsOf(before, after, place)
    .map(({ kind }) => kind)
    .filter(kind => kind !== 'webhook.event')

test.each<[string, PostRow | null, PostRow | null, string[]]>([
  ['is written', null, post, []],
  ['is edited', post, { ...post, copy: 'Another' }, []],
  ['fails', post, failed, ['attention.opened', 'post.failed']],
  ['has an unknown outcome', post, unknown, ['attention.opened', 'post.failed']],
  ['turns out to be absent', unknown, failed, ['attention.opened']],
  ['turns out to be there', unknown, published, ['attention.closed', 'post.published']],
  ['is published', post, published, ['post.published']],
  ['is scheduled again', failed, post, ['attention.closed']],
  ['is edited while it is failed', failed, { ...failed, version: 2 }, []],
  ['has another first line while it is failed', failed, { ...failed, copy: 'Another' }, ['attention.opened']],
  ['is deleted while it is failed', failed, null, ['attention.closed']],
  ['is deleted', post, null, []],
])('a post that %s is told of as such', (_what, before, after, told) => {
  expect(kinds(before, after)).toEqual(told)
})

test('attention facts contain subject, page and time in the launcher’s form, however long text and reason are', () => {
  const copy = '😀'.repeat(300)
  const facts = factsOf(post, { ...failed, platform: 'LINKEDIN_PAGE', copy, failureMessage: '😀'.repeat(9_000) }, place)
  for (const { kind, body } of facts) expect(() => factKinds[kind].body.parse(body), kind).not.toThrow()
  const [opened] = factsOf(post, failed, place)
  expect(opened).toEqual({
    kind: 'attention.opened',
    body: {
      key: `post:${id}`,
      kind: 'POST_FAILED',
      organizationId: place.organizationId,
      subjectId: id,
      title: 'Post for X failed: “A text”',
      url: `https://example.test/publishing/posts/${id}`,
      at: at.toISOString(),
      audience: 'organization',
      body: failed.failureMessage,
    },
  })
})

const events = (before: PostRow | null, after: PostRow | null) =>
  factsOf(before, after, place).flatMap(fact => (fact.kind === 'webhook.event' ? [fact.body.event] : []))
const draft: PostRow = { ...post, status: 'DRAFT', scheduledAt: null }
const pending: PostRow = { ...post, approval: 'PENDING' }

test.each<[string, PostRow | null, PostRow | null, string[]]>([
  ['is written as a draft', null, draft, []],
  ['is written for a time', null, post, ['post.scheduled']],
  ['gets another time', post, { ...post, scheduledAt: new Date(at.getTime() + 1) }, ['post.scheduled']],
  ['is edited', post, { ...post, copy: 'Another', version: 2 }, []],
  ['is published', post, published, ['post.published']],
  ['fails', post, failed, ['post.failed']],
  ['fails again', failed, { ...failed, failedAt: new Date(at.getTime() + 1) }, ['post.failed']],
  ['has an unknown outcome', post, unknown, ['post.outcome_unknown']],
  ['turns out to be absent', unknown, failed, ['post.failed']],
  ['waits for approval', post, pending, ['post.approval_changed']],
  ['is written and waits for approval', null, pending, ['post.scheduled', 'post.approval_changed']],
  ['is deleted', post, null, []],
])('webhooks are told of a post that %s', (_what, before, after, told) => {
  expect(events(before, after)).toEqual(told)
})

test('approval attention opens once, closes when it is decided, published or deleted, and an edit asks nobody again', () => {
  expect(kinds(post, pending)).toEqual(['attention.opened'])
  expect(kinds(pending, { ...pending, version: 2, updatedAt: new Date(at.getTime() + 1) })).toEqual([])
  for (const after of [post, { ...published, approval: 'PENDING' as const }, null]) expect(kinds(pending, after)).toContain('attention.closed')
  expect(factsOf(post, pending, place)[0]).toMatchObject({ body: { kind: 'APPROVAL_PENDING', key: `approval:${id}`, audience: 'organization' } })
})

test('moves action items with a brand: closed in the former organization, opened in the new one', () => {
  const there = { ...place, organizationId: '0197a3c2-5e1f-7c4b-9d2e-000000000009' }
  const told = factsOfMove({ ...failed, approval: 'PENDING' }, place, there)
  expect(told.map(({ kind, body }) => [kind, 'organizationId' in body ? body.organizationId : null])).toEqual([
    ['attention.closed', null],
    ['attention.opened', there.organizationId],
    ['attention.closed', null],
    ['attention.opened', there.organizationId],
  ])
  expect(factsOfMove(post, place, there)).toEqual([])
})

test('sends webhooks when a connection’s health changes, without its tokens; none for a new healthy or a deleted one', () => {
  const healthy = { id, brandId, platform: 'X', health: 'HEALTHY', accessToken: 'sealed', version: 1 } as ConnectionRow
  const broken: ConnectionRow = { ...healthy, health: 'NEEDS_RECONNECT', version: 2 }
  expect([eventsOfConnection(null, healthy), eventsOfConnection(healthy, { ...healthy, version: 2 }), eventsOfConnection(broken, null)]).toEqual([[], [], []])
  const data = { brandId, connectionId: id, platform: 'X', health: 'NEEDS_RECONNECT' }
  expect(eventsOfConnection(healthy, broken)).toEqual([
    { kind: 'webhook.event', body: { brandId, event: 'connection.health_changed', postId: null, connectionId: id, data } },
  ])
})
