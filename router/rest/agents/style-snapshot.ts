import { listBody } from '../derive/list.ts'
import { toInteger } from '../enum-case.ts'
import { operationRow, type Row } from '../row.ts'
import {
  type CreateStyleSnapshotInput,
  RestCreateStyleSnapshotDocument,
  RestStyleDocument,
  type RestStyleQueryVariables,
  type RestStyleSnapshotFieldsFragment,
} from './style-snapshot.generated.ts'

/** A snapshot as routes answer it: the graph's names, what it leads to by id. */
const toRest = ({ profile, sources, createdBy, ...snapshot }: RestStyleSnapshotFieldsFragment) => ({
  ...snapshot,
  personProfileId: profile?.id ?? null,
  sourceIds: (sources ?? []).flatMap(source => (source ? [source.id] : [])),
  createdById: createdBy?.id ?? null,
})

export const styleSnapshotRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/person-profiles/:id/style',
    operation: RestStyleDocument,
    query: ['first', 'after'],
    variables: ({ params, query }) => ({ ...query, id: params.id!, first: toInteger(query.first) }) as RestStyleQueryVariables,
    reply: ({ personProfile }) =>
      personProfile?.snapshots
        ? {
            body: {
              active: personProfile.activeSnapshot ? toRest(personProfile.activeSnapshot) : null,
              ...listBody('snapshots', personProfile.snapshots, toRest),
            },
          }
        : null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/person-profiles/:id/style',
    operation: RestCreateStyleSnapshotDocument,
    body: ['sourceIds'],
    names: { personProfileId: 'id' },
    variables: ({ params, body, idempotencyKey }) => ({ input: { ...body, personProfileId: params.id!, idempotencyKey } as CreateStyleSnapshotInput }),
    reply: ({ createStyleSnapshot }) => {
      if (!createStyleSnapshot) return null
      const { justTaken, ...snapshot } = createStyleSnapshot
      return { status: justTaken ? 201 : 200, body: toRest(snapshot) }
    },
  }),
]
