import { nounRoutes } from '../derive/route.ts'

export const merchantRows = nounRoutes({
  select: {
    Merchant: 'id name legalName country defaultCurrency status isDefault invoicePrefix taxId supportEmail createdAt version',
  },
  routes: {
    'GET /api/merchants': 'merchants',
    'POST /api/merchants': 'createMerchant',
    'GET /api/merchants/:id': 'merchant',
    'PUT /api/merchants/:id': 'updateMerchant',
    'POST /api/merchants/:id/suspend': 'suspendMerchant',
    'POST /api/merchants/:id/resume': 'resumeMerchant',
  },
})
