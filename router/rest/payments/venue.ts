import { nounRoutes } from '../derive/route.ts'

export const venueRows = nounRoutes({
  select: {
    Venue: 'id merchantId name address { line1 line2 city postalCode country } timeZone status createdAt version',
  },
  routes: {
    'GET /api/venues': 'venues',
    'POST /api/venues': 'createVenue',
    'GET /api/venues/:id': 'venue',
    'PUT /api/venues/:id': 'updateVenue',
    'POST /api/venues/:id/archive': 'archiveVenue',
    'POST /api/venues/:id/restore': 'restoreVenue',
  },
})
