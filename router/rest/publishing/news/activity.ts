import { listBody } from '../../derive/list.ts'
import { fromEnum, toInteger } from '../../enum-case.ts'
import { operationRow, type Row } from '../../row.ts'
import { RestActivityDocument, type RestActivityQueryVariables } from './activity.generated.ts'

export const activityRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/activity',
    operation: RestActivityDocument,
    query: ['brandId', 'first', 'after'],
    variables: ({ query }) => ({ ...query, first: toInteger(query.first) }) as RestActivityQueryVariables,
    reply: ({ brandActivities }) =>
      brandActivities && { body: listBody('activity', brandActivities, activity => ({ ...activity, kind: fromEnum(activity.kind) })) },
  }),
]
