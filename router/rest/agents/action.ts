import { nounRoutes } from '../derive/route.ts'

export const actionRows = nounRoutes({
  routes: {
    'POST /api/actions': {
      run: 'executeAction',
      status: 201,
      location: null,
      changing: null,
      select: `id status trigger input output failure { code message stepKey }
        steps { id key kind status attempt input output failure { code message } } createdAt version`,
    },
  },
})
