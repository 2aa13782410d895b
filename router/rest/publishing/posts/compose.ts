import { fromEnum, toEnum } from '../../enum-case.ts'
import { operationRow, type Row } from '../../row.ts'
import { type ComposePostsInput, RestComposePostsDocument, RestPostChecksDocument } from '../post.generated.ts'
import { contentIn, toRest } from '../post.ts'

const keys = ['brandId', 'platforms', 'copy', 'title', 'link', 'tags', 'visibility', 'media', 'firstComment', 'campaignId', 'scheduledAt', 'overrides'] as const

const all = (values: unknown, read: (value: unknown) => unknown) => (Array.isArray(values) ? values.map(read) : values)

/** What is composed, as the graph takes it. */
const composedIn = (body: Readonly<Record<string, unknown>>) =>
  ({
    ...contentIn(body),
    platforms: all(body.platforms, toEnum),
    ...('overrides' in body && { overrides: all(body.overrides, each => (isObject(each) ? { ...contentIn(each), platform: toEnum(each.platform) } : each)) }),
  }) as ComposePostsInput

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

export const composeRows: readonly Row[] = [
  operationRow({
    method: 'POST',
    path: '/api/posts/compose',
    operation: RestComposePostsDocument,
    body: keys,
    variables: ({ body, idempotencyKey }) => ({ input: { ...composedIn(body), idempotencyKey } as ComposePostsInput }),
    reply: ({ composePosts }) =>
      composePosts && {
        status: 201,
        headers: { location: `/publishing/api/posts?groupId=${composePosts.groupId}` },
        body: { groupId: composePosts.groupId, posts: (composePosts.posts ?? []).flatMap(post => (post ? [toRest(post)] : [])) },
      },
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/check',
    operation: RestPostChecksDocument,
    body: keys,
    variables: ({ body }) => ({ input: composedIn(body) }),
    reply: ({ postChecks }) =>
      postChecks && {
        body: {
          checks: postChecks.flatMap(check =>
            check
              ? [
                  {
                    ...check,
                    platform: fromEnum(check.platform),
                    problems: check.problems.map(problem => ({ ...problem, severity: fromEnum(problem.severity) })),
                  },
                ]
              : [],
          ),
        },
      },
  }),
]
