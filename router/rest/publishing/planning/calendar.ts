import { listBody } from '../../derive/list.ts'
import { fromEnum, toInteger } from '../../enum-case.ts'
import { tagOfVersion } from '../../preconditions.ts'
import { operationRow, type Row } from '../../row.ts'
import {
  type ConfirmCalendarFeedInput,
  type CreateCalendarFeedInput,
  type MoveCalendarEntryInput,
  RestCalendarDocument,
  type RestCalendarEntryFieldsFragment,
  RestCalendarFeedDocument,
  type RestCalendarFeedQueryVariables,
  type RestCalendarQueryVariables,
  RestConfirmCalendarFeedDocument,
  RestCreateCalendarFeedDocument,
  RestMoveCalendarEntryDocument,
  RestRevokeCalendarFeedDocument,
  type RevokeCalendarFeedInput,
} from './calendar.generated.ts'

/** An entry as routes answer it: enum values in lower case. */
const toRest = (entry: RestCalendarEntryFieldsFragment) => ({
  ...entry,
  kind: fromEnum(entry.kind),
  platform: entry.platform && fromEnum(entry.platform),
  status: entry.status && fromEnum(entry.status),
})

export const calendarRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/calendar',
    operation: RestCalendarDocument,
    query: ['brandId', 'from', 'to', 'first', 'after'],
    variables: ({ query }) => ({ ...query, first: toInteger(query.first) }) as unknown as RestCalendarQueryVariables,
    reply: ({ calendarEntries }) => calendarEntries && { body: listBody('entries', calendarEntries, toRest) },
  }),
  operationRow({
    method: 'PUT',
    path: '/api/calendar/:id',
    operation: RestMoveCalendarEntryDocument,
    body: ['at'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as MoveCalendarEntryInput }),
    reply: ({ moveCalendarEntry: entry }) => entry && { headers: { etag: tagOfVersion(entry.version) }, body: toRest(entry) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/calendar/feed',
    operation: RestCreateCalendarFeedDocument,
    body: ['brandId'],
    variables: ({ body }) => ({ input: body as unknown as CreateCalendarFeedInput }),
    reply: ({ createCalendarFeed }) => createCalendarFeed && { status: 201, headers: { location: createCalendarFeed.url! }, body: createCalendarFeed },
  }),
  operationRow({
    method: 'GET',
    path: '/api/calendar/feed',
    operation: RestCalendarFeedDocument,
    query: ['brandId'],
    variables: ({ query }) => query as unknown as RestCalendarFeedQueryVariables,
    reply: ({ calendarFeed }) => calendarFeed && { body: calendarFeed },
  }),
  operationRow({
    method: 'POST',
    path: '/api/calendar/feed/confirm',
    operation: RestConfirmCalendarFeedDocument,
    query: ['brandId'],
    variables: ({ query }) => ({ input: query as unknown as ConfirmCalendarFeedInput }),
    reply: ({ confirmCalendarFeed }) => confirmCalendarFeed && { body: confirmCalendarFeed },
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/calendar/feed',
    operation: RestRevokeCalendarFeedDocument,
    query: ['brandId'],
    variables: ({ query }) => ({ input: query as unknown as RevokeCalendarFeedInput }),
    reply: ({ revokeCalendarFeed }) => revokeCalendarFeed && { status: 204 },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/calendar/:token.ics',
    access: { public: 'Calendar programs know no credentials: the address is one, 256 random bits, ended by whoever made it.' },
    limit: 0,
    to: 'publishing',
    role: 'api',
    why: 'own answer',
    tells: [
      {
        name: 'readCalendarFeed',
        does: 'A brand’s scheduled and published posts for calendar programs, from 90 days ago to 365 days ahead.',
        params: { token: 'What createCalendarFeed answered.' },
        refuses: [404, 429],
        answers: { 200: { description: 'A calendar of RFC 5545; times are in UTC.', type: 'text/calendar', schema: { type: 'string' } } },
      },
    ],
  },
]
