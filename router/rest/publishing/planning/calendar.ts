import { nounRoutes } from '../../derive/route.ts'
import type { Row } from '../../row.ts'

export const calendarRows: readonly Row[] = [
  ...nounRoutes({
    select: {
      CalendarEntry: 'id kind at endsAt day time title brandId platform status version conflicts',
      CalendarFeed: 'id brandId resting createdAt',
    },
    routes: {
      'GET /api/calendar': { run: 'calendarEntries', name: 'calendar', list: 'entries' },
      'PUT /api/calendar/:id': 'moveCalendarEntry',
      'POST /api/calendar/feed': { run: 'createCalendarFeed', select: 'id brandId url resting createdAt', location: '{url}' },
      'GET /api/calendar/feed': 'calendarFeed',
      'POST /api/calendar/feed/confirm': { run: 'confirmCalendarFeed', input: 'query' },
      'DELETE /api/calendar/feed': { run: 'revokeCalendarFeed', input: 'query' },
    },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/calendar/:token.ics',
    access: { public: 'Calendar programs send no credentials: the address itself is the credential, 256 random bits; the person who created it can end it.' },
    limit: 0,
    to: 'publishing',
    role: 'api',
    why: 'own answer',
    describes: [
      {
        name: 'readCalendarFeed',
        does: 'A brand’s scheduled and published posts for calendar programs, from 90 days ago to 365 days ahead.',
        params: { token: 'Code of the address that createCalendarFeed returned.' },
        refuses: [404, 429],
        answers: { 200: { description: 'A calendar of RFC 5545; times are in UTC.', type: 'text/calendar', schema: { type: 'string' } } },
      },
    ],
  },
]
