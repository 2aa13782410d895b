import { nounRoutes } from '../derive/route.ts'

export const brandRows = nounRoutes({
  select: {
    Brand: 'id organizationId name description timeZone approvalMode approverIds: approvers { id } pausedAt archivedAt createdAt updatedAt version',
  },
  names: { id: 'brandId' },
  routes: {
    'GET /api/brands': 'brands',
    'POST /api/brands': 'createBrand',
    'GET /api/brands/:brandId': 'brand',
    'PUT /api/brands/:brandId': 'updateBrand',
    'POST /api/brands/:brandId/archive': 'archiveBrand',
    'POST /api/brands/:brandId/restore': 'restoreBrand',
    'POST /api/brands/:brandId/pause': 'pauseBrand',
    'POST /api/brands/:brandId/resume': 'resumeBrand',
    'POST /api/brands/:brandId/transfer-organization': 'transferBrand',
  },
})
