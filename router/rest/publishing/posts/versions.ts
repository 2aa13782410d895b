import { fromEnum } from '../../enum-case.ts'
import { operationRow, type Row } from '../../row.ts'
import { RestPostVersionsDocument, type RestPostVersionsQuery, RestRestorePostVersionDocument } from '../post.generated.ts'
import { one } from '../post.ts'

type GraphVersion = NonNullable<NonNullable<NonNullable<RestPostVersionsQuery['post']>['versions']>[number]>

const toRest = ({ author, target, ...version }: GraphVersion) => ({
  ...version,
  authorId: author?.id ?? null,
  target: target && { ...target, kind: fromEnum(target.kind) },
})

export const postVersionRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/posts/:id/versions',
    operation: RestPostVersionsDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ post }) => post && { body: { versions: (post.versions ?? []).flatMap(version => (version ? [toRest(version)] : [])) } },
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/versions/:version/restore',
    operation: RestRestorePostVersionDocument,
    // Nothing is needed in it: clients that send an object with every request may.
    body: [],
    mayBeEmpty: true,
    variables: ({ params, expectedVersion }) => ({
      input: { id: params.id!, version: (/^\d{1,9}$/.test(params.version!) ? Number(params.version) : params.version) as number, expectedVersion },
    }),
    reply: ({ restorePostVersion }) => one(restorePostVersion),
  }),
]
